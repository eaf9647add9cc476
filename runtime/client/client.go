package client

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// ErrClosed is the cause of everything that ends with Close.
var ErrClosed = errors.New("client: closed")

// Client talks to one server, over one connection after the other if need be.
// All methods may be called concurrently. Close ends it.
type Client struct {
	opts   Options
	ctx    context.Context // the Client's life
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	tools  catalog
	tasks  taskBoard
	subs   subscriptions
	moves  mover

	mu    sync.Mutex
	cur   *conversation // nil while there is none
	last  *conversation // the newest that there was
	ready chan struct{} // closed when cur is set, or nothing will be any more
	end   error         // why nothing will be any more
	era   era
	level string // what SetLevel asked for
}

// newClient makes a Client without a connection.
func newClient(o Options) *Client {
	o.fill()
	c := &Client{opts: o, ready: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.moves.told = o.Observer.State
	return c
}

// Revision is the protocol revision that is spoken, or was last.
func (c *Client) Revision() string { return c.newest().profile.Revision }

// Profile is what that revision has.
func (c *Client) Profile() mcp.Profile { return c.newest().profile }

// Binding is what the messages travel on.
func (c *Client) Binding() mcp.Binding { return c.newest().binding }

// Server is who answers.
func (c *Client) Server() Server { return c.newest().server }

// State is how the connection is.
func (c *Client) State() State { return c.moves.state() }

// Done is closed when nothing will work any more.
func (c *Client) Done() <-chan struct{} { return c.ctx.Done() }

// Err is why, nil before.
func (c *Client) Err() error { return context.Cause(c.ctx) }

func (c *Client) newest() *conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Close ends the conversation and waits until the server has been told, for at
// most a few seconds, and until every handler has returned. It is idempotent
// and must not be called by a handler.
func (c *Client) Close() error {
	c.finish(ErrClosed, "closed")
	c.wg.Wait()
	return nil
}

// finish ends the Client without waiting.
func (c *Client) finish(cause error, reason string) {
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		return
	}
	c.end = cause
	conv := c.cur
	if conv == nil {
		close(c.ready)
	}
	c.mu.Unlock()
	c.moves.to(Change{State: Closed, Reason: reason, Err: cause})
	c.cancel(cause)
	if conv != nil {
		conv.peer.Close(cause)
	}
}

// conversation returns the connection, waiting while one is being made.
func (c *Client) conversation(ctx context.Context) (*conversation, error) {
	for {
		c.mu.Lock()
		conv, end, ready := c.cur, c.end, c.ready
		c.mu.Unlock()
		switch {
		case end != nil:
			return nil, &peer.Failure{Reason: peer.Closed, NotDelivered: true, Err: end}
		case conv != nil:
			return conv, nil
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
