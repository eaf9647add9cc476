package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// listener is a server of listens that says nothing by itself.
type listener struct {
	exchanges chan *dispatch.Exchange
	causes    chan error
}

func (s *listener) serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	if x.Msg.Method != "subscriptions/listen" {
		return done("x")
	}
	s.exchanges <- x
	<-ctx.Done()
	s.causes <- context.Cause(ctx)
	return dispatch.Result([]byte(`{"bye":` + x.ID().String() + `}`))
}

func inListenLab(t *testing.T, f func(l *lab, s *listener)) {
	t.Helper()
	b := &backend{}
	inLab(t, b, func(l *lab) {
		s := &listener{exchanges: make(chan *dispatch.Exchange, 100), causes: make(chan error, 100)}
		b.serve = s.serve
		f(l, s)
	})
}

func listen(id string) call {
	return call{body: `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{},` + envelope + `}}`, header: modern("subscriptions/listen")}
}

const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// P4, P33.10, P34, W33.8: the head comes although nothing has been said, nothing
// ends the stream but the client, and no field makes it look resumable.
func TestListeningLasts(t *testing.T) {
	inListenLab(t, func(l *lab, s *listener) {
		l.settings(func(s *streamable.Settings) { s.RequestTimeout, s.KeepAlive = time.Minute, time.Minute })
		began := time.Now()
		e := l.stream(listen(`"l"`))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the head took %v", took)
		}
		if h := e.res.Header; h.Get("X-Accel-Buffering") != "no" || h.Get("Mcp-Session-Id") != "" { // W33.11
			t.Errorf("%v", h)
		}
		x := <-s.exchanges
		time.AfterFunc(26*time.Hour, func() {
			if err := x.Notify([]byte(changed)); err != nil {
				t.Error(err)
			}
		})
		ev := e.message() // reads comments all the while
		if took := time.Since(began); took < 26*time.Hour {
			t.Errorf("after %v", took)
		}
		if string(ev.Data) != changed || ev.ID != "" {
			t.Errorf("%+v", ev)
		}
		e.close()
		if cause := <-s.causes; !errors.Is(cause, dispatch.ErrDisconnected) {
			t.Error(cause)
		}
		synctest.Wait()
		if err := x.Notify([]byte(changed)); err == nil {
			t.Error("a notification after the end")
		}
	})
}

// P4: the first bytes of the body are a comment, whoever comes first.
func TestListeningBegins(t *testing.T) {
	inListenLab(t, func(l *lab, s *listener) {
		for _, first := range []string{"silence", "a word"} {
			res := l.do(listen("1"))
			x := <-s.exchanges
			want := ": ok\n\n"
			if first == "a word" {
				_ = x.Notify([]byte(changed))
				want += "data: " + changed
			}
			got := make([]byte, len(want))
			if _, err := res.Body.Read(got[:5]); err != nil || string(got[:5]) != want[:5] {
				t.Errorf("%s: %q, %v", first, got, err)
			}
			_ = res.Body.Close()
		}
	})
}

// W33.7, P24, W38.9: what ends a listen from this side lets it end well.
func TestListeningEndsWell(t *testing.T) {
	tests := map[string]struct {
		end   func(l *lab)
		cause error
	}{
		"a drain":             {func(l *lab) { l.server.Drain(0) }, dispatch.ErrGoingAway},
		"a drain with spread": {func(l *lab) { l.server.Drain(time.Minute) }, dispatch.ErrGoingAway},
		"a shutdown":          {func(l *lab) { _ = l.server.Shutdown(l.t.Context(), errors.New("x")) }, dispatch.ErrShutdown},
		"the token's end":     {func(*lab) {}, auth.ErrExpired},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inListenLab(t, func(l *lab, s *listener) {
				l.server.Authenticate = func(*http.Request) (*auth.Identity, error) {
					return &auth.Identity{Principal: "a", Expires: time.Now().Add(time.Hour)}, nil
				}
				e := l.stream(listen("5"))
				<-s.exchanges
				go tt.end(l)
				if got := string(e.message().Data); got != `{"jsonrpc":"2.0","id":5,"result":{"bye":5}}` {
					t.Error(got)
				}
				e.ended()
				if cause := <-s.causes; !errors.Is(cause, tt.cause) {
					t.Error(cause)
				}
			})
		})
	}
}

// A server that does not let go is not waited for.
func TestListeningIsEndedAnyway(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		stuck := make(chan struct{})
		defer close(stuck)
		b.serve = func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			<-stuck
			return done("late")
		}
		e := l.stream(listen("5"))
		l.server.Drain(0)
		began := time.Now()
		if got := string(e.message().Data); !strings.Contains(got, `"reason":"draining"`) || time.Since(began) > time.Minute {
			t.Errorf("after %v: %s", time.Since(began), got)
		}
		e.ended()
	})
}

// A listen that comes while the server drains is served, and dismissed soon.
func TestListeningDuringADrain(t *testing.T) {
	inListenLab(t, func(l *lab, s *listener) {
		l.server.Drain(0)
		res := l.do(listen("5"))
		if !res.Close {
			t.Error("the connection is kept")
		}
		e := &events{t: t, res: res, r: &sse.Reader{R: res.Body}}
		e.message()
		e.ended()
	})
}

// W33.12: bounds of their own, which requests that work do not share.
func TestListeningBounds(t *testing.T) {
	inListenLab(t, func(l *lab, s *listener) {
		who := "alice"
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) { return &auth.Identity{Principal: who}, nil }
		l.settings(func(s *streamable.Settings) { s.MaxConcurrent, s.MaxListening, s.MaxListeningPerPrincipal = 1, 3, 2 })
		open := []*events{l.stream(listen("1")), l.stream(listen("2"))}
		refused := func(what string) {
			t.Helper()
			if a := l.ask(listen("3")); a.status != 200 || a.code() != "-32603" || a.id() != "3" || !strings.Contains(a.body, "busy") {
				t.Errorf("%s: %d %s", what, a.status, a.body)
			}
		}
		refused("a third of one principal")
		who = "bob"
		open = append(open, l.stream(listen("1")))
		refused("one too many")
		if a := l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}); a.status != 200 || a.code() != "" {
			t.Errorf("a call: %d %s", a.status, a.body)
		}
		open[0].close()
		synctest.Wait()
		open = append(open, l.stream(listen("4")))
		for _, e := range open[1:] {
			e.close()
		}
	})
}

func TestListeningRefused(t *testing.T) {
	t.Run("by a server that has none: W14.12", func(t *testing.T) {
		b := &backend{serve: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no"))
		}}
		inLab(t, b, func(l *lab) {
			if a := l.ask(listen("3")); a.status != 404 || a.code() != "-32601" || a.id() != "3" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	})
	t.Run("by a server that thinks about it first", func(t *testing.T) {
		b := &backend{serve: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			time.Sleep(time.Second)
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no"))
		}}
		inLab(t, b, func(l *lab) {
			if a := l.ask(listen("3")); a.status != 200 || a.code() != "-32601" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	})
	t.Run("to a client that takes no stream", func(t *testing.T) {
		inListenLab(t, func(l *lab, _ *listener) {
			c := listen("3")
			c.header["Accept"] = "application/json"
			if a := l.ask(c); a.status != 406 || a.id() != "3" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	})
	t.Run("when there is no stream left", func(t *testing.T) {
		inListenLab(t, func(l *lab, s *listener) {
			l.server.StreamLimits = stream.Limits{Open: 1}
			e := l.stream(listen("1"))
			if a := l.ask(listen("3")); a.status != 200 || a.code() != "-32603" || a.id() != "3" {
				t.Errorf("%d %s", a.status, a.body)
			}
			e.close()
		})
	})
}

// A listen is observed as what it is.
func TestListeningIsObserved(t *testing.T) {
	inListenLab(t, func(l *lab, s *listener) {
		var seen []string
		note := func(format string, args ...any) {
			l.mu.Lock()
			seen = append(seen, fmt.Sprintf(format, args...))
			l.mu.Unlock()
		}
		o := l.server.Observer
		opened, closed := o.StreamOpened, o.StreamClosed
		o.StreamOpened = func(k hook.StreamKind) { note("open %s", k); opened(k) }
		o.StreamClosed = func(k hook.StreamKind, e hook.StreamEnd) { note("close %s %s", k, e); closed(k, e) }
		o.Listening = func(n int) { note("%+d", n) }
		o.OperationEnded = func(op hook.Operation, e hook.End) { note("%s %q", op.Method, e.ErrorType) }
		e := l.stream(listen("1"))
		e.close()
		synctest.Wait()
		again := l.stream(listen("2"))
		l.server.Drain(0)
		again.message()
		again.ended()
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		got := strings.Join(seen, ", ")
		for _, want := range []string{"+1", "-1", "open listen", "close listen disconnected", "close listen done", `subscriptions/listen "disconnected"`, `subscriptions/listen ""`} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in %s", want, got)
			}
		}
	})
}

// B15.9, B10.8: a standalone stream ends with its token, and can be resumed
// with another.
func TestStandaloneStreamEndsWithItsToken(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) {
			return &auth.Identity{Principal: "a", Expires: time.Now().Add(time.Hour)}, nil
		}
		id := l.connect("2025-11-25", "{}")
		e := l.stream(call{method: "GET", header: on(id)})
		began := time.Now()
		first := e.next().ID
		var last string
		for ev, err := e.r.Next(); err == nil; ev, err = e.r.Next() {
			if ev.ID != "" {
				last = ev.ID
			}
		}
		if took := time.Since(began); took != time.Hour || last == "" || last == first {
			t.Errorf("after %v with %q", took, last)
		}
		again := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", last)})
		again.close()
	})
}
