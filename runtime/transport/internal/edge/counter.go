package edge

import (
	"context"
	"sync"
)

// Counter counts the requests of a front that are not over. Unlike a
// sync.WaitGroup it may be entered while somebody waits. The zero value works.
type Counter struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is next 0; nil when nobody waits
}

// Enter counts one in.
func (c *Counter) Enter() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

// Leave counts one out.
func (c *Counter) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.none != nil {
		close(c.none)
		c.none = nil
	}
}

// Idle returns a channel that is closed once nothing is going on.
func (c *Counter) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.none != nil {
		return c.none
	}
	none := make(chan struct{})
	if c.n == 0 {
		close(none)
		return none
	}
	c.none = none
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
