package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// legacy is a client of 2025-11-25: a session, one connection, calls one after
// the other.
type legacy struct {
	*base
	id int // last JSON-RPC id

	// The session; empty when there is none.
	session string
	calls   int // accepted in this session
	endGET  func()
}

func (l *legacy) run(ctx context.Context) {
	defer l.leave(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		if err := l.step(ctx); err != nil {
			l.me.Failed++
			l.col.failed(l.me.Name, fmt.Sprintf("#%d", l.id), err)
			// No busy loop against an endpoint that is away.
			select {
			case <-ctx.Done():
			case <-time.After(pauseOnFailure):
			}
		}
	}
}

// step opens a session when there is none, and makes one call.
func (l *legacy) step(issue context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(issue), callTimeout)
	defer cancel()
	if l.session == "" {
		if err := l.open(ctx, issue); err != nil {
			return fmt.Errorf("initialize: %w", err)
		}
	}
	tool, slow, d := l.next()
	begun := time.Now()
	l.id++
	r, err := l.post(ctx, legacyCall(l.id, tool.Name, tool.args(d)), l.id)
	if errors.Is(err, errGone) {
		l.gone()
		return nil
	}
	l.me.Calls++
	if err != nil {
		return fmt.Errorf("%s: %w", tool.Name, err)
	}
	l.calls++
	text, err := r.text()
	if err != nil {
		return fmt.Errorf("%s: %w", tool.Name, err)
	}
	pod := ""
	if !slow {
		pod = l.pod(text)
	}
	l.col.answered(l.me.Name, slow, begun, pod)
	return nil
}

func (l *legacy) open(ctx, issue context.Context) error {
	l.id++
	req := request(ctx, http.MethodPost, l.cfg.URL, initializeBody(l.id), nil)
	c, resp, finish, err := l.send(ctx, req)
	if err != nil {
		return err
	}
	r, err := readCall(resp, l.id)
	if err != nil {
		c.close()
		return err
	}
	finish()
	l.pool.put(c)
	if r.Error != nil {
		return fmt.Errorf("JSON-RPC error %d: %.200s", r.Error.Code, r.Error.Message)
	}
	if l.session = resp.Header.Get("Mcp-Session-Id"); l.session == "" {
		return errors.New("no Mcp-Session-Id in the answer")
	}
	l.me.Sessions++
	l.calls = 0
	if _, err := l.post(ctx, initializedBody, 0); err != nil {
		if errors.Is(err, errGone) {
			l.gone()
		}
		return fmt.Errorf("notifications/initialized: %w", err)
	}
	get, cancel := context.WithCancel(issue)
	done := make(chan struct{})
	go func(session string) {
		defer close(done)
		l.stream(get, session)
	}(l.session)
	l.endGET = func() { cancel(); <-done }
	return nil
}

// gone notes the 404 that ended the session.
func (l *legacy) gone() {
	l.me.PostsGone++
	if l.calls == 0 {
		l.me.Stillborn++
	}
	l.drop()
}

func (l *legacy) drop() {
	l.session = ""
	if l.endGET != nil {
		l.endGET()
		l.endGET = nil
	}
}

// leave ends the session as a polite client does.
func (l *legacy) leave(ctx context.Context) {
	if l.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	session := l.session
	l.drop()
	req := request(ctx, http.MethodDelete, l.cfg.URL, "", l.headers(session))
	if c, resp, _, err := l.send(ctx, req); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10))
		c.close()
	}
}

func (l *legacy) headers(session string) map[string]string {
	return map[string]string{"MCP-Protocol-Version": legacyRevision, "Mcp-Session-Id": session}
}

// post sends one message of the session; id 0 is a notification.
func (l *legacy) post(ctx context.Context, body string, id int) (*reply, error) {
	req := request(ctx, http.MethodPost, l.cfg.URL, body, l.headers(l.session))
	c, resp, finish, err := l.send(ctx, req)
	if err != nil {
		return nil, err
	}
	var r *reply
	if id == 0 && resp.StatusCode == http.StatusAccepted {
		_, err = io.Copy(io.Discard, resp.Body)
	} else {
		r, err = readCall(resp, id)
	}
	if err != nil && !errors.Is(err, errGone) {
		c.close()
		return nil, err
	}
	finish()
	l.pool.put(c)
	return r, err
}
