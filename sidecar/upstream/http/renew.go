package http

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// maxSubscriptions bounds what is remembered of one leg; the workload has them
// all, a new session only the newest of these.
const maxSubscriptions = 1024

// memory is what a session of the workload was told to keep, so that the next
// one can be told the same (B3.7).
type memory struct {
	level         []byte            // params of the last logging/setLevel
	subscriptions map[string][]byte // params of resources/subscribe by raw URI
}

// remember notes what a request that succeeded has set.
func (l *leg) remember(r peer.Request, answer peer.Answer) {
	if answer.Err != nil {
		return
	}
	switch r.Method {
	case mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
	default:
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &l.memory
	uri, _ := strictjson.Get(r.Params, "uri")
	switch r.Method {
	case mcp.MethodSetLevel:
		m.level = r.Params
	case mcp.MethodSubscribe:
		if m.subscriptions == nil {
			m.subscriptions = map[string][]byte{}
		}
		if len(m.subscriptions) < maxSubscriptions {
			m.subscriptions[string(uri)] = r.Params
		}
	case mcp.MethodUnsubscribe:
		delete(m.subscriptions, string(uri))
	}
}

// again are the requests that bring a new session to where the old one was.
func (l *leg) again() (out []peer.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.memory.level != nil {
		out = append(out, peer.Request{Method: mcp.MethodSetLevel, Params: l.memory.level})
	}
	for _, uri := range slices.Sorted(maps.Keys(l.memory.subscriptions)) {
		out = append(out, peer.Request{Method: mcp.MethodSubscribe, Params: l.memory.subscriptions[uri]})
	}
	return out
}

// renew replaces a session that the workload has forgotten, unless somebody
// else has done so already.
func (l *leg) renew(ctx context.Context, gone *conn, deadline time.Time) (err error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.current() != gone {
		return nil
	}
	if l.w.cfg.Hooks.Renewed != nil {
		defer func() { l.w.cfg.Hooks.Renewed(err) }()
	}
	var next *conn
	for next == nil {
		if next, _, err = l.shake(ctx, l.w.cfg.Startup); err != nil && !retry(ctx, err, deadline) {
			return &peer.Failure{Reason: peer.SessionGone, NotDelivered: true, Err: err}
		}
	}
	for _, r := range l.again() {
		// What is refused now was refused for the workload's own reasons.
		if _, err := next.Call(ctx, r); peer.ReasonOf(err) == peer.Ended || ctx.Err() != nil {
			break
		}
	}
	l.mu.Lock()
	if l.ctx.Err() != nil {
		l.mu.Unlock()
		l.w.finish(next, context.Cause(l.ctx))
		return l.Err()
	}
	l.now = next
	l.mu.Unlock()
	l.retire(gone)
	if shared, ok := l.handler.(*upstream.Shared); ok {
		shared.Renewed()
	}
	return nil
}

// retire closes the old session once the answers that were on their way have
// come or are given up.
func (l *leg) retire(c *conn) {
	l.w.wg.Go(func() {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for c.InFlight() > 0 {
			select {
			case <-t.C:
				continue
			case <-l.ctx.Done():
			}
			break
		}
		c.Close(nil)
		c.http.Wait()
		c.Wait()
	})
}
