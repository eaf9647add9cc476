package limit

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// Why a call was not let through.
var (
	// ErrFull: as many calls wait as may.
	ErrFull = errors.New("limit: too many calls are running and waiting")
	// ErrHeld: the workload was away for longer than the hold time.
	ErrHeld = errors.New("limit: the workload did not come back in time")
)

// Gate lets calls through. Make it with New. All methods may be called
// concurrently.
type Gate struct {
	hold time.Duration

	mu      sync.Mutex
	open    bool
	limit   int
	waiting int
	active  int
	queue   list.List     // of *waiter, in order of arrival
	idle    chan struct{} // closed while nothing is active
}

type waiter struct{ let chan struct{} }

// New returns a closed gate for limit calls at once and waiting more in line.
// hold is how long a call waits for a closed gate.
func New(limit, waiting int, hold time.Duration) *Gate {
	idle := make(chan struct{})
	close(idle)
	return &Gate{hold: hold, limit: limit, waiting: waiting, idle: idle}
}

// SetLimit changes both bounds. Calls that already run or wait are kept.
func (g *Gate) SetLimit(limit, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit, g.waiting = limit, waiting
	g.pass()
}

// Open lets calls through, those that wait first.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
	g.pass()
}

// Close makes calls wait, each for at most the hold time. Running ones are not
// touched.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
}

// Counts returns how many calls run and wait.
func (g *Gate) Counts() (active, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active, g.queue.Len()
}

// Enter waits for a turn. On success leave must be called exactly once; else
// the error is ErrFull at once, ErrHeld, or the cause of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	g.mu.Lock()
	if g.open && g.active < g.limit && g.queue.Len() == 0 {
		g.enter()
		g.mu.Unlock()
		return g.leave, nil
	}
	if g.queue.Len() >= g.waiting {
		g.mu.Unlock()
		return nil, ErrFull
	}
	w := &waiter{let: make(chan struct{})}
	place := g.queue.PushBack(w)
	g.mu.Unlock()

	held := time.NewTimer(g.hold)
	defer held.Stop()
	for {
		select {
		case <-w.let:
			return g.leave, nil
		case <-ctx.Done():
			if g.giveUp(w, place) {
				return nil, context.Cause(ctx)
			}
			return g.leave, nil
		case <-held.C:
			// Waiting for a turn has no bound but ctx's; waiting for the
			// workload has.
			if g.isOpen() {
				held.Reset(g.hold)
				continue
			}
			if g.giveUp(w, place) {
				return nil, ErrHeld
			}
			return g.leave, nil
		}
	}
}

// Idle waits until no call runs or ctx ends.
func (g *Gate) Idle(ctx context.Context) {
	g.mu.Lock()
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

func (g *Gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// giveUp leaves the line and reports whether w was still in it; if not, it was
// let through in the same moment.
func (g *Gate) giveUp(w *waiter, place *list.Element) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.let:
		return false
	default:
		g.queue.Remove(place)
		return true
	}
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	if g.active == 0 {
		close(g.idle)
	}
	g.pass()
}

// enter counts one call; the lock is held.
func (g *Gate) enter() {
	if g.active == 0 {
		g.idle = make(chan struct{})
	}
	g.active++
}

// pass lets through who may go; the lock is held.
func (g *Gate) pass() {
	for g.open && g.active < g.limit && g.queue.Len() > 0 {
		w := g.queue.Remove(g.queue.Front()).(*waiter)
		g.enter()
		close(w.let)
	}
}
