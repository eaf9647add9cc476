package peer

import (
	"context"
	"errors"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// tracer is a link that writes down every message of both stacks.
type tracer struct {
	mu    sync.Mutex
	lines []string
}

func (r *tracer) link(stack string) middleware.Middleware {
	return func(next middleware.Handler) middleware.Handler {
		return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			kind := [...]string{jsonrpc.KindRequest: "request", jsonrpc.KindNotification: "note", jsonrpc.KindResponse: "response"}[m.Kind]
			line := strings.TrimSpace(stack + " " + kind + " " + m.Method + " " + m.ID.String())
			if !m.Parent.IsZero() {
				line += " of " + m.Parent.String()
			}
			if m.Err != nil {
				line += " failed"
			}
			if m.Revision != "" {
				line += " in " + m.Revision
			}
			r.mu.Lock()
			r.lines = append(r.lines, line)
			r.mu.Unlock()
			return next(ctx, m)
		}
	}
}

func (r *tracer) want(t *testing.T, what string, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	got := r.lines
	r.lines = nil
	r.mu.Unlock()
	sort.Strings(got)
	sort.Strings(want)
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s:\n%s\nwant:\n%s", what, g, w)
	}
}

// D4: both stacks of a client see every message exactly once.
func TestStacksSeeEverythingOnce(t *testing.T) {
	r := &tracer{}
	bubble(t, Config{Send: r.link("send"), Receive: r.link("receive")}, func(t *testing.T, s *server) {
		opened := make(chan error, 1)
		go func() {
			_, err := s.Initialize(t.Context(), []byte(`{}`), func(string) bool { return true })
			opened <- err
		}()
		s.read()
		s.say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		s.want(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		const in = " in 2025-06-18"
		r.want(t, "initialize", "send request initialize 1", "receive response initialize 1", "send note notifications/initialized"+in)

		call := s.call(t.Context(), req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		s.read()
		s.log.serve = func(context.Context, Incoming) ([]byte, *jsonrpc.Error) { return []byte(`{}`), nil }
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}`,
			`{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{}}`)
		s.want(`{"jsonrpc":"2.0","id":"a","result":{}}`)
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		call.wantResult(t, `{}`)
		r.want(t, "a call", "send request tools/call 2"+in, "receive note notifications/progress of 2"+in, `receive request sampling/createMessage "a" of 2`+in,
			`send response sampling/createMessage "a" of 2`+in, "receive response tools/call 2"+in)

		s.say(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
		s.want(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		r.want(t, "what belongs to no call", "receive request ping 5"+in, "send response ping 5"+in, "receive note notifications/tools/list_changed"+in)

		ctx, cancel := context.WithCancel(t.Context())
		call = s.call(ctx, req("tools/call", ""))
		s.read()
		s.log.serve = func(ctx context.Context, _ Incoming) ([]byte, *jsonrpc.Error) { <-ctx.Done(); return nil, nil }
		s.say(`{"jsonrpc":"2.0","id":"b","method":"roots/list"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}`)
		cancel()
		s.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"context canceled"}}`)
		<-call.done
		r.want(t, "cancels", "send request tools/call 3"+in, `receive request roots/list "b" of 3`+in, "receive note notifications/cancelled"+in, "send note notifications/cancelled"+in)

		call = s.call(t.Context(), req("no/such", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}`)
		<-call.done
		r.want(t, "a refusal", "send request no/such 4"+in, "receive response no/such 4 failed"+in)
	})
}

// Links may replace what travels, answer themselves, and see what failed.
func TestLinksOfACall(t *testing.T) {
	failure := errors.New("refused here")
	var seen error
	links := Config{
		Send: func(next middleware.Handler) middleware.Handler {
			return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
				switch m.Method {
				case "own":
					return jsonrpc.Result([]byte(`{"_meta":{"k":1}}`))
				case "refused":
					return jsonrpc.Fail(&jsonrpc.Error{Code: -5, Cause: failure})
				case "none":
					return jsonrpc.Outcome{}
				case "twice":
					next(ctx, m)
				case "edited":
					m.Params = []byte(`{"b":2}`)
				}
				o := next(ctx, m)
				if o.Err != nil {
					seen = o.Err.Cause
				}
				return o
			}
		},
		Receive: func(next middleware.Handler) middleware.Handler {
			return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
				switch {
				case m.Method == "edited" && m.Kind == jsonrpc.KindResponse:
					m.Result = []byte(`{"_meta":{"c":3}}`)
				case m.Method == "notifications/x" && m.Kind == jsonrpc.KindNotification:
					m.Params = []byte(`{"d":4}`)
				case m.Method == "withheld" && m.Kind == jsonrpc.KindResponse:
					return jsonrpc.Outcome{}
				}
				return next(ctx, m)
			}
		},
	}
	bubble(t, links, func(t *testing.T, s *server) {
		call := s.call(t.Context(), req("edited", `{"a":1}`))
		s.want(`{"jsonrpc":"2.0","id":1,"method":"edited","params":{"b":2}}`)
		s.say(`{"jsonrpc":"2.0","method":"notifications/x","params":{}}`, `{"jsonrpc":"2.0","id":1,"result":{"_meta":{"z":0}}}`)
		<-call.done
		if string(call.Result) != `{"_meta":{"c":3}}` || string(call.Meta) != `{"c":3}` {
			t.Errorf("%s, %s", call.Result, call.Meta)
		}
		s.log.wantNotes(t, `{"jsonrpc":"2.0","method":"notifications/x","params":{"d":4}}`)

		if a, err := s.Call(t.Context(), req("own", "")); err != nil || string(a.Meta) != `{"k":1}` {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := s.Call(t.Context(), req("refused", "")); err != failure {
			t.Error(err)
		}
		if _, err := s.Call(t.Context(), req("none", "")); ReasonOf(err) != BadResponse {
			t.Error(err)
		}
		call = s.call(t.Context(), req("twice", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		<-call.done
		if !errors.Is(call.err, errTwice) {
			t.Errorf("%+v", call)
		}
		call = s.call(t.Context(), req("withheld", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":6,"result":{}}`)
		<-call.done
		if call.Err == nil || call.Err.Code != jsonrpc.CodeInternal {
			t.Errorf("%+v", call)
		}
		if n := s.InFlight(); n != 0 {
			t.Errorf("%d calls are left", n)
		}
		gone := s.call(t.Context(), req("gone", ""))
		s.read()
		_ = s.out.Close()
		<-gone.done
		if ReasonOf(gone.err) != Ended || seen == nil || ReasonOf(seen) != Ended {
			t.Errorf("the caller got %v, the link %v", gone.err, seen)
		}
	})
}

// slowLink queues what it is given only when it is asked a second time.
type slowLink struct {
	exchange
	taken chan struct{}
}

func (l *slowLink) Inline() bool { return false }

func (l *slowLink) Send(ctx context.Context, out *Outgoing) error {
	if out.Kind == jsonrpc.KindRequest {
		close(l.taken)
		<-ctx.Done() // like a POST whose answer does not come
		return context.Cause(ctx)
	}
	return l.exchange.Send(context.Background(), out)
}

// W19.1: a request may have arrived although Send did not return in time.
func TestACancelWhileSendingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLink{taken: make(chan struct{})}
		p := New(l, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-l.taken; cancel() }()
		if _, err := p.Call(ctx, req("tools/call", "")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		if len(l.said) != 1 || !strings.Contains(l.said[0], `"requestId":1`) {
			t.Errorf("said %v", l.said)
		}
		p.Close(nil)
		p.Wait()
	})
}

// A link that panics on an answer has not sent it.
func TestAPanicOfALinkLosesWhatItWasAbout(t *testing.T) {
	panics := 0
	bubble(t, Config{Send: func(next middleware.Handler) middleware.Handler {
		return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			if m.Kind == jsonrpc.KindResponse {
				panic("link")
			}
			return next(ctx, m)
		}
	}, Hooks: Hooks{Panicked: func(any, []byte) { panics++ }}}, func(t *testing.T, s *server) {
		s.log.serve = func(context.Context, Incoming) ([]byte, *jsonrpc.Error) { return []byte(`{}`), nil }
		s.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
		synctest.Wait()
		s.log.wantDrops(t, DropReply)
		call := s.call(t.Context(), req("tools/call", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		call.wantResult(t, `{}`)
		if panics != 1 {
			t.Errorf("%d panics", panics)
		}
	})
}
