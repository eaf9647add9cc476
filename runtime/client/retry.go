package client

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// maxRetryAfter bounds what a server may ask us to wait.
const maxRetryAfter = time.Minute

// send makes a request, on the connection that there is, and again where that
// is safe (W9.11, W18.8). The conversation returned is the one that answered.
func (c *Client) send(ctx context.Context, r *request) (json.RawMessage, *conversation, error) {
	if r.opts.err != nil {
		return nil, nil, r.opts.err
	}
	for attempt := 1; ; attempt++ {
		v, err := c.conversation(ctx)
		if err != nil {
			return nil, nil, err
		}
		raw, err := v.call(ctx, r)
		if err == nil || rpcError(err) != nil && peer.ReasonOf(err) == "" {
			c.moves.well(troubleReach)
			return raw, v, err
		}
		c.noticed(v, err)
		if attempt >= c.opts.Retry.Attempts || ctx.Err() != nil || !c.mayRepeat(v, r, err) {
			return nil, v, err
		}
		if f := c.opts.Observer.Retried; f != nil {
			f(r.method, reasonOf(err))
		}
		if pause.For(ctx, c.pause(err, attempt)) != nil {
			return nil, v, err
		}
	}
}

// noticed learns from a failure about the connection.
func (c *Client) noticed(v *conversation, err error) {
	var f *peer.Failure
	if !errors.As(err, &f) {
		return
	}
	switch {
	case f.Reason == peer.SessionGone:
		v.retire()
	case f.Reason == peer.Unreachable, f.Reason == peer.Status && f.Status >= 500:
		c.moves.ill(troubleReach, string(f.Reason), err)
	}
}

// mayRepeat says whether a request may be made again.
func (c *Client) mayRepeat(v *conversation, r *request, err error) bool {
	var f *peer.Failure
	if !errors.As(err, &f) || c.Err() != nil {
		return false
	}
	switch f.Reason {
	case peer.Unreachable, peer.SessionGone:
		return f.NotDelivered
	case peer.Ended, peer.StreamLost, peer.Closed:
		return f.NotDelivered || c.harmless(v, r)
	case peer.Status:
		switch f.Status {
		case http.StatusTooManyRequests:
			return true // refused before anything was done
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return c.harmless(v, r)
		}
	}
	return false
}

// harmless reports whether running a request twice is as good as once.
func (c *Client) harmless(v *conversation, r *request) bool {
	switch r.method {
	case mcp.MethodToolsCall:
		return r.opts.idempotent && c.tools.idempotent(text(r.params, "name"))
	case mcp.MethodTasksUpdate:
		return true // answered keys are ignored (W36.13)
	case mcp.MethodListen, mcp.MethodInitialize:
		return false // their owners begin anew themselves
	}
	_, known := v.profile.Method(r.method)
	return known // everything else reads, or sets what it set
}

// pause is how long to wait before the next attempt.
func (c *Client) pause(err error, attempt int) time.Duration {
	var f *peer.Failure
	if errors.As(err, &f) && f.RetryAfter > 0 {
		return min(f.RetryAfter, maxRetryAfter)
	}
	return backoff(c.opts.Retry.First, c.opts.Retry.Max, attempt)
}

// backoff doubles from first up to most, and adds up to a quarter at random.
func backoff(first, most time.Duration, attempt int) time.Duration {
	d := most
	if shift := attempt - 1; shift < 20 && first<<shift < most {
		d = first << shift
	}
	return d + rand.N(d/4+1)
}
