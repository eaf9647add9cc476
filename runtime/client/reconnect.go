package client

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// restoreTimeout bounds each request that puts a new session into the state of
// the old one.
const restoreTimeout = 30 * time.Second

// errReplaced ends what runs on a connection that is given up.
var errReplaced = errors.New("client: the connection was replaced")

// adopt makes a connection the Client's and watches over it.
func (c *Client) adopt(v *conversation) {
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		v.close(ErrClosed)
		return
	}
	c.cur, c.last = v, v
	c.wg.Go(func() { c.watch(v) })
	close(c.ready)
	c.mu.Unlock()
	c.moves.to(Change{State: Connected, Reason: "connected"})
	if c.opts.Handlers.any() {
		v.hear()
	}
	if c.opts.KeepAlive > 0 && v.profile.Handshake {
		c.wg.Go(func() { c.keepAlive(v) })
	}
}

// retire takes no more requests to a session that the server has forgotten.
// What is in flight may still end by itself for a moment.
func (v *conversation) retire() { v.gone.Do(func() { close(v.retired) }) }

// errForgotten: the server does not know the session any more.
var errForgotten = &peer.Failure{Reason: peer.SessionGone, NotDelivered: true}

// watch waits for the end of a connection and makes the next one.
func (c *Client) watch(v *conversation) {
	var err error
	select {
	case <-v.peer.Done():
		err = v.peer.Err()
	case <-v.retired:
		err = errForgotten
	}
	c.mu.Lock()
	over := c.end != nil
	if !over {
		c.cur, c.ready = nil, make(chan struct{})
	}
	c.mu.Unlock()
	if over {
		v.close(ErrClosed)
		return
	}
	// What the old one still has to say must not keep the new one waiting.
	c.wg.Go(func() {
		v.drain()
		v.close(errReplaced)
	})
	if c.opts.Reconnect.Never {
		c.finish(err, reasonOf(err))
		return
	}
	c.reconnect(err)
}

// drainTime is how long requests on a forgotten session may take to end.
const drainTime = 5 * time.Second

// drain waits for what is in flight.
func (v *conversation) drain() {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(drainTime); v.peer.InFlight() > 0 && time.Now().Before(deadline); {
		select {
		case <-look.C:
		case <-v.peer.Done():
			return
		case <-v.client.ctx.Done():
			return
		}
	}
}

// reconnect makes connections until one stands or the policy ends it.
func (c *Client) reconnect(cause error) {
	r := c.opts.Reconnect
	for attempt := 1; ; attempt++ {
		var wait time.Duration
		if attempt > 1 {
			wait = backoff(r.First, r.Max, attempt-1)
		}
		c.moves.to(Change{State: Connecting, Attempt: attempt, Wait: wait, Reason: reasonOf(cause), Err: cause})
		if pause.For(c.ctx, wait) != nil {
			return
		}
		v, err := c.establish(c.ctx)
		if err == nil {
			c.restore(v)
			if c.opts.Handlers.any() {
				v.hear()
				v.settle(c.ctx)
			}
			c.adopt(v)
			return
		}
		cause = err
		if c.ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrOnce) || errors.Is(err, ErrNoRevision) || r.Attempts > 0 && attempt >= r.Attempts {
			c.finish(err, reasonOf(err))
			return
		}
	}
}

// restore puts a new session into the state that the old one had. A server that
// refuses is as it is.
func (c *Client) restore(v *conversation) {
	if !v.profile.Handshake {
		return
	}
	ctx, stop := context.WithTimeout(c.ctx, restoreTimeout)
	defer stop()
	c.mu.Lock()
	level := c.level
	c.mu.Unlock()
	if level != "" {
		_, _ = v.call(ctx, &request{method: mcp.MethodSetLevel, params: levelParams(level)})
	}
}

// keepAlive pings until the connection ends, and ends it when nobody answers
// (W21.2).
func (c *Client) keepAlive(v *conversation) {
	t := time.NewTicker(c.opts.KeepAlive)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-v.peer.Done():
			return
		}
		_, err := v.call(c.ctx, &request{method: mcp.MethodPing, opts: callOptions{timeout: c.opts.KeepAlive}})
		if err != nil && rpcError(err) == nil && v.peer.Err() == nil {
			v.peer.Ended(err)
			return
		}
	}
}
