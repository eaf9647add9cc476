package hold

import (
	"context"
	"errors"
	"sync"
	"time"
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
	hold time.Duration
	most int
	left func() // leave, made once

	mu     sync.Mutex
	open   chan struct{} // closed while the gate is open
	held   int
	active int
	idle   chan struct{} // closed while nothing is active
}

// New returns a closed gate that holds at most so many calls for at most hold
// each.
func New(most int, hold time.Duration) *Gate {
	idle := make(chan struct{})
	close(idle)
	g := &Gate{hold: hold, most: most, open: make(chan struct{}), idle: idle}
	g.left = g.leave
	return g
}

// Open lets calls through, those that are held first.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		close(g.open)
	}
}

// Close holds calls from now on. Running ones are not touched.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen() {
		g.open = make(chan struct{})
	}
}

// isOpen tells the state; the lock is held.
func (g *Gate) isOpen() bool {
	select {
	case <-g.open:
		return true
	default:
		return false
	}
}

// Counts returns how many calls run and how many are held.
func (g *Gate) Counts() (active, held int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active, g.held
}

// Enter waits until the gate is open. On success leave must be called exactly
// once; else the error is ErrFull at once, ErrAway, or the cause of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
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
	if g.isOpen() {
		g.start()
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
	if g.isOpen() {
		g.start()
		return nil
	}
	return g.open
}

func (g *Gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held--
}

// start counts a running call; the lock is held.
func (g *Gate) start() {
	if g.active == 0 {
		g.idle = make(chan struct{})
	}
	g.active++
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	if g.active == 0 {
		close(g.idle)
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
