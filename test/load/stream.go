package load

import (
	"context"
	"net/http"
	"time"
)

// reconnectAfter is what clients wait before they open a closed GET again.
const reconnectAfter = time.Second

// stream holds the session's GET until ctx ends, the endpoint does not know
// the session, or it has no such stream. What is lost here is no call.
func (l *legacy) stream(ctx context.Context, session string) {
	var gone, lost int
	defer func() {
		l.me.StreamsGone += gone
		l.me.StreamsLost += lost
	}()
	for failures := 0; failures < 2 && ctx.Err() == nil; {
		status, err := l.get(ctx, session)
		switch {
		case ctx.Err() != nil:
			return
		case status == http.StatusNotFound:
			gone++
			return
		case status == http.StatusMethodNotAllowed:
			return
		case err != nil || status != http.StatusOK:
			lost++
			failures++
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

// get opens the stream on a connection of its own and reads it to its end.
func (l *legacy) get(ctx context.Context, session string) (status int, err error) {
	c, err := dial(ctx, l.pool.addr)
	if err != nil {
		return 0, err
	}
	defer c.close()
	h := l.headers(session)
	h["Accept"] = "text/event-stream"
	resp, _, err := c.do(ctx, request(ctx, http.MethodGet, l.cfg.URL, "", h))
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, events(resp.Body, func(string) error { return nil })
}
