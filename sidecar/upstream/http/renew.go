package http

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

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
	for _, r := range l.memory.Again() {
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
