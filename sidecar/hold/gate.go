package hold

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/inflight"
)

// Why a call was not let through.
var (
	// ErrFull: as many calls are held as may be.
	ErrFull = errors.New("hold: too many calls wait for the workload")
	// ErrAway: the workload did not come back within the hold time.
	ErrAway = errors.New("hold: the workload did not come back in time")
)

// Gate lets calls through while it is open. Make it with New. All methods may
// be called concurrently.
type Gate struct {
	hold   time.Duration
	most   int
	left   func() // leaves active, made once
	active inflight.Counter
	isOpen atomic.Bool // changed under mu

	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
	held int
}

// New returns a closed gate that holds at most so many calls for at most hold
// each.
func New(most int, hold time.Duration) *Gate {
	g := &Gate{hold: hold, most: most, open: make(chan struct{})}
	g.left = g.active.Leave
	return g
}

// Open lets calls through, those that are held first.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen.Swap(true) {
		close(g.open)
	}
}

// Close holds calls from now on. Running ones are not touched.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen.Swap(false) {
		g.open = make(chan struct{})
	}
}

// Counts returns how many calls run and how many are held.
func (g *Gate) Counts() (active, held int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active.Len(), g.held
}

// Enter waits until the gate is open. On success leave must be called exactly
// once; else the error is ErrFull at once, ErrAway, or the cause of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	if g.start() {
		return g.left, nil
	}
	open, err := g.enter()
	if open == nil {
		return g.left, err
	}
	defer g.release()
	away := time.NewTimer(g.hold)
	defer away.Stop()
	for {
		select {
		case <-open:
		case <-away.C:
			return nil, ErrAway
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		// It may have been closed again before this call got its turn.
		if open = g.again(); open == nil {
			return g.left, nil
		}
	}
}

// enter counts the call as running, or as held and then returns what to wait
// for.
func (g *Gate) enter() (open <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.start() {
		return nil, nil
	}
	if g.held == g.most {
		return nil, ErrFull
	}
	g.held++
	return g.open, nil
}

// again is enter for a call that is held already.
func (g *Gate) again() (open <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.start() {
		return nil
	}
	return g.open
}

func (g *Gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held--
}

// start counts the call as running if the gate is open. It is counted before it
// looks: whoever closes the gate and then waits for Idle misses none.
func (g *Gate) start() bool {
	g.active.Enter()
	if g.isOpen.Load() {
		return true
	}
	g.active.Leave()
	return false
}

// Idle waits until no call runs or ctx ends.
func (g *Gate) Idle(ctx context.Context) { _ = g.active.Wait(ctx) }
