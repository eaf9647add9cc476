package dispatch

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// queueFactor is how many times the bound of working requests may wait.
const queueFactor = 10

var errGateFull = errors.New("too many requests wait")

// gate bounds the requests that are worked on; the others wait in order. The
// limit is asked each time, so it can change while requests run.
type gate struct {
	mu      sync.Mutex
	active  int
	waiting list.List // of chan struct{}, closed to let in
	limit   func() int
}

func (g *gate) most() int {
	if g.limit != nil {
		if n := g.limit(); n > 0 {
			return n
		}
	}
	return DefaultConcurrent
}

// enter waits for a turn. The error is errGateFull, or ctx's cause.
func (g *gate) enter(ctx context.Context, limit func() int, o *hook.Observer) error {
	g.mu.Lock()
	g.limit = limit
	most := g.most()
	if g.active < most && g.waiting.Len() == 0 {
		g.active++
		g.mu.Unlock()
		return nil
	}
	if g.waiting.Len() >= queueFactor*most {
		g.mu.Unlock()
		return errGateFull
	}
	turn := make(chan struct{})
	at := g.waiting.PushBack(turn)
	g.admit()
	g.mu.Unlock()
	o.Queue(+1)
	defer o.Queue(-1)
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-turn: // let in at the same moment: pass the turn on
		g.active--
	default:
		g.waiting.Remove(at)
	}
	g.admit()
	return context.Cause(ctx)
}

// leave ends one turn.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	g.admit()
}

// admit lets in who waits; g.mu is held.
func (g *gate) admit() {
	if g.waiting.Len() == 0 {
		return
	}
	for most := g.most(); g.active < most && g.waiting.Len() > 0; g.active++ {
		close(g.waiting.Remove(g.waiting.Front()).(chan struct{}))
	}
}
