package streamable_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// P16, W19.2, W19.5, B11.6: how a cancelled request ends.
func TestCancel(t *testing.T) {
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`
	}
	t.Run("before anything was sent", func(t *testing.T) {
		for _, accept := range []string{"application/json, text/event-stream", "application/json", "text/event-stream"} {
			inHeldLab(t, func(l *lab, h *held) {
				id := l.connect("2025-06-18", "{}")
				told := make(chan struct{})
				go func() {
					defer close(told)
					<-h.exchanges
					l.ask(call{body: cancel(`"c2"`), header: on(id)}) // another id: nothing happens
					l.ask(call{body: cancel(`"c1"`), header: on(id)})
				}()
				a := l.ask(call{body: callTool, header: with(on(id), "Accept", accept)})
				if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || a.body != "" {
					t.Errorf("%s: %d %v %q", accept, a.status, a.header, a.body)
				}
				if cause := <-h.ended; !errors.Is(cause, dispatch.ErrCancelled) || !strings.Contains(cause.Error(), "enough") {
					t.Errorf("cause %v", cause)
				}
				<-told
			})
		}
	})
	t.Run("after ids were sent", func(t *testing.T) {
		inHeldLab(t, func(l *lab, h *held) {
			id := l.connect("2025-11-25", "{}")
			s := l.stream(call{body: callTool, header: on(id)})
			x := <-h.exchanges
			_ = x.Notify(progress(1))
			last := s.message()
			l.ask(call{body: cancel(`"c1"`), header: on(id)})
			s.ended()
			if err := x.Notify(progress(2)); err == nil {
				t.Error("a notification after the cancel was taken")
			}
			// A client that resumes the stream learns that it is over.
			r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", last.ID)})
			over := r.message()
			if got := string(over.Data); got != `{"jsonrpc":"2.0","id":"c1","error":{"code":-32603,"message":"the request was cancelled","data":{"reason":"cancelled"}}}` {
				t.Error(got)
			}
			r.ended()
			if a := l.ask(call{method: "GET", header: with(on(id), "Last-Event-ID", over.ID)}); a.status != 405 {
				t.Errorf("and once more: %d", a.status)
			}
		})
	})
	t.Run("the id has another type", func(t *testing.T) {
		inHeldLab(t, func(l *lab, h *held) {
			id := l.connect("2025-06-18", "{}")
			go func() {
				<-h.exchanges
				l.ask(call{body: cancel(`c1`), header: on(id)})
				l.ask(call{body: cancel(`1`), header: on(id)})
				h.release <- done("x")
			}()
			if a := l.ask(call{body: callTool, header: on(id)}); !strings.Contains(a.body, "done") {
				t.Errorf("%s", a.body)
			}
		})
	})
	t.Run("another session's request", func(t *testing.T) {
		inHeldLab(t, func(l *lab, h *held) {
			mine, other := l.connect("2025-06-18", "{}"), l.connect("2025-06-18", "{}")
			go func() {
				<-h.exchanges
				l.ask(call{body: cancel(`"c1"`), header: on(other)})
				h.release <- done("x")
			}()
			if a := l.ask(call{body: callTool, header: on(mine)}); !strings.Contains(a.body, "done") {
				t.Errorf("%s", a.body)
			}
		})
	})
	t.Run("initialize cannot be cancelled", func(t *testing.T) { // W4.10
		b := &backend{}
		inLab(t, b, func(l *lab) {
			other := l.connect("2025-11-25", "{}")
			b.open = func(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
				l.ask(call{body: cancel(`"init"`), header: on(other)})
				return dispatch.Result([]byte(`{"protocolVersion":"2025-11-25"}`))
			}
			l.connect("2025-11-25", "{}")
		})
	})
}

// W8.10, W14.10, W14.11: what a connection that breaks means.
func TestDisconnect(t *testing.T) {
	t.Run("modern", func(t *testing.T) {
		for _, streaming := range []bool{false, true} {
			inHeldLab(t, func(l *lab, h *held) {
				ctx, hangUp := context.WithCancel(l.t.Context())
				go func() {
					x := <-h.exchanges
					if streaming {
						_ = x.Notify(progress(1))
						synctest.Wait()
					}
					hangUp()
				}()
				if res, err := l.try(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow"), ctx: ctx}); err == nil {
					_, _ = io.ReadAll(res.Body)
				}
				if cause := <-h.ended; !errors.Is(cause, dispatch.ErrDisconnected) {
					t.Errorf("streaming %v: cause %v", streaming, cause)
				}
			})
		}
	})
	t.Run("legacy goes on and can be resumed", func(t *testing.T) {
		inHeldLab(t, func(l *lab, h *held) {
			id := l.connect("2025-11-25", "{}")
			ctx, hangUp := context.WithCancel(l.t.Context())
			s := l.stream(call{body: callTool, header: on(id), ctx: ctx})
			prime := s.next()
			x := <-h.exchanges
			hangUp()
			synctest.Wait()
			_ = x.Notify(progress(1))
			_ = x.Notify(progress(2))
			time.Sleep(time.Minute)
			r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", prime.ID)})
			if got := string(r.message().Data); got != string(progress(1)) {
				t.Error(got)
			}
			second := r.message()
			h.release <- done("x")
			if got := r.message(); !strings.Contains(string(got.Data), "done") || !got.HasID {
				t.Errorf("%+v", got)
			}
			r.ended()
			// And once more, from the middle, after the end.
			r = l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", second.ID)})
			if got := r.message(); !strings.Contains(string(got.Data), "done") {
				t.Errorf("%s", got.Data)
			}
			r.ended()
		})
	})
	t.Run("a session whose id nobody learned is ended", func(t *testing.T) {
		b := &backend{}
		inLab(t, b, func(l *lab) {
			ctx, hangUp := context.WithCancel(l.t.Context())
			b.open = func(ctx context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
				hangUp()
				<-ctx.Done()
				return dispatch.Result([]byte(`{}`))
			}
			_, _ = l.try(call{body: initialize("2025-11-25", "{}"), ctx: ctx})
			synctest.Wait()
			if n := l.server.Sessions(); n != 0 {
				t.Errorf("%d sessions", n)
			}
			if got := len(b.endings()); got != 1 {
				t.Errorf("the server was told %d times", got) // its Open had succeeded
			}
		})
	})
}

// B11, D3: the deadline names itself.
func TestDeadline(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		l.settings(func(s *streamable.Settings) { s.RequestTimeout = 10 * time.Second })
		id := l.connect("2025-06-18", "{}")
		began := time.Now()
		a := l.ask(call{body: callTool, header: on(id)})
		if a.status != 200 || !strings.Contains(a.body, `"reason":"timeout"`) || a.code() != "-32603" || time.Since(began) != 10*time.Second {
			t.Errorf("%d %s after %v", a.status, a.body, time.Since(began))
		}
		if cause := <-h.ended; !errors.Is(cause, dispatch.ErrDeadline) {
			t.Errorf("cause %v", cause)
		}
	})
}

// B15.6, W10.8, W10.9: DELETE cancels what runs and later use is 404.
func TestDelete(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-06-18", "{}")
		get := l.stream(call{method: "GET", header: on(id)})
		go func() {
			<-h.exchanges
			if a := l.ask(call{method: "DELETE", header: on(id)}); a.status != 204 || a.body != "" {
				t.Errorf("DELETE: %d", a.status)
			}
		}()
		if a := l.ask(call{body: callTool, header: on(id)}); a.status != 200 || a.body != "" { // P16
			t.Errorf("the running call: %d %q", a.status, a.body)
		}
		get.ended()
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if a := l.ask(call{method: method, body: list, header: on(id)}); a.status != 404 {
				t.Errorf("%s afterwards: %d", method, a.status)
			}
		}
		if ends := l.backend.endings(); len(ends) != 1 || !errors.Is(ends[0], dispatch.ErrCancelled) {
			t.Errorf("the server was told %v", ends)
		}
	})
}

// A server that ends a session answers what runs on it.
func TestServerEndsSession(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-06-18", "{}")
		go func() {
			<-h.exchanges
			l.backend.session(0).Close(errors.New("the process at /usr/bin/secret died"))
		}()
		a := l.ask(call{body: callTool, header: on(id)})
		if a.code() != "-32603" || !strings.Contains(a.body, "session_ended") || strings.Contains(a.body, "secret") { // B16.3
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := l.ask(call{body: list, header: on(id)}); a.status != 404 {
			t.Errorf("%d", a.status)
		}
	})
}

// W1.3: an id that is in flight is refused, and free again afterwards.
func TestDuplicateID(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-06-18", "{}")
		go func() {
			<-h.exchanges
			if a := l.ask(call{body: callTool, header: on(id)}); a.status != 400 || a.code() != "-32600" || a.id() != `"c1"` {
				t.Errorf("%d %s", a.status, a.body)
			}
			h.release <- done("x")
		}()
		if a := l.ask(call{body: callTool, header: on(id)}); !strings.Contains(a.body, "done") {
			t.Errorf("%s", a.body)
		}
		go func() { h.release <- done("y") }()
		if a := l.ask(call{body: callTool, header: on(id)}); !strings.Contains(a.body, "done") {
			t.Errorf("again: %s", a.body)
		}
	})
	// W1.4: ids of different modern clients collide freely.
	inHeldLab(t, func(l *lab, h *held) {
		results := make(chan string, 2)
		for range 2 {
			go func() {
				results <- l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}).body
			}()
		}
		<-h.exchanges
		<-h.exchanges
		h.release <- done("x")
		h.release <- done("y")
		if a, b := <-results, <-results; a == b || !strings.Contains(a, "done") || !strings.Contains(b, "done") {
			t.Errorf("%s and %s", a, b)
		}
	})
}
