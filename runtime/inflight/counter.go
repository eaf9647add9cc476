// Package inflight counts what is going on, for very much that comes and goes
// and few who wait for a moment when nothing does.
package inflight

import (
	"context"
	"sync"
	"sync/atomic"
)

// Counter counts what has been entered and not left. Unlike a sync.WaitGroup it
// may be entered while somebody waits. The zero value works. All methods may be
// called concurrently.
type Counter struct {
	n      atomic.Int64
	waited atomic.Bool // whoever leaves last looks for none

	mu   sync.Mutex
	none chan struct{} // closed when n is next 0; nil when nobody waits
}

// Enter counts one in.
func (c *Counter) Enter() { c.n.Add(1) }

// Leave counts one out.
func (c *Counter) Leave() {
	// Idle says that it waits before it looks at n: one of both sees the other.
	if c.n.Add(-1) == 0 && c.waited.Load() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.settle()
	}
}

// settle tells who waits if nothing is going on; mu is held.
func (c *Counter) settle() {
	if c.none != nil && c.n.Load() == 0 {
		close(c.none)
		c.none = nil
		c.waited.Store(false)
	}
}

// Len is how many are in.
func (c *Counter) Len() int { return int(c.n.Load()) }

// Idle returns a channel that is closed once nothing is going on.
func (c *Counter) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.none == nil {
		c.none = make(chan struct{})
		c.waited.Store(true)
	}
	none := c.none
	c.settle()
	return none
}

// Wait waits until nothing is going on, or until ctx ends; the error is its
// cause.
func (c *Counter) Wait(ctx context.Context) error {
	select {
	case <-c.Idle():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
