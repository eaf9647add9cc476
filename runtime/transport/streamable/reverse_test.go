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
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func idOf(data []byte) string {
	raw, _ := strictjson.Get(data, "id")
	return string(raw)
}

// W8.18, B6.3, P10: a reverse request goes on the stream of its exchange, its
// id is a string that carries the pod, and the answer comes by another POST. W8.6, W1.11.
func TestReverseCall(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-11-25", `{"sampling":{},"elicitation":{}}`)
		get := l.stream(call{method: "GET", header: on(id)})
		get.next()
		s := l.stream(call{body: callTool, header: on(id)})
		x := <-h.exchanges
		outcomes := make(chan dispatch.Outcome)
		ask := func(method, params string) {
			go func() { outcomes <- x.Call(x.Context(), method, []byte(params)) }()
		}
		ask("sampling/createMessage", "{\n\"maxTokens\": 1.0}")
		asked := s.message().Data
		rid := idOf(asked)
		if want := `{"jsonrpc":"2.0","id":` + rid + `,"method":"sampling/createMessage","params":{"maxTokens": 1.0}}`; string(asked) != want || !strings.HasPrefix(rid, `"pod-1.`) {
			t.Errorf("%s", asked)
		}
		// Another session cannot answer it.
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"result":{"evil":1}}`, header: on(l.connect("2025-11-25", "{}"))}); a.status != 202 {
			t.Errorf("%d", a.status)
		}
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"result":{"n":9007199254740993,"p":1.0}}`, header: on(id)}); a.status != 202 || a.body != "" {
			t.Errorf("%d %q", a.status, a.body)
		}
		if o := <-outcomes; string(o.Result) != `{"n":9007199254740993,"p":1.0}` {
			t.Errorf("%+v", o)
		}
		// The second answer to it means nothing.
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"result":{}}`, header: on(id)})
		ask("elicitation/create", `{"message":"m","requestedSchema":{}}`)
		rid = idOf(s.message().Data)
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"error":{"code":-1,"message":"no","x":1}}`, header: on(id)})
		if o := <-outcomes; o.Err == nil || o.Err.Code != -1 || string(o.Err.Raw) != `{"code":-1,"message":"no","x":1}` {
			t.Errorf("%+v", o)
		}
		h.release <- done("x")
		s.message()
		s.ended()
		// After the answer nothing can be asked any more.
		if o := x.Call(context.Background(), "sampling/createMessage", []byte(`{}`)); o.Err == nil {
			t.Errorf("%+v", o)
		}
		get.close()
	})
}

// W1.12, W29.2, W30.2, W30.15: what may not be asked is refused unasked. W4.12. W4.11.
func TestReverseCallsThatMayNotBeMade(t *testing.T) {
	tests := map[string]struct {
		revision, capabilities, method, params string
		code                                   int64
		reason                                 string
	}{
		"not declared":                  {"2025-11-25", `{}`, "sampling/createMessage", `{}`, -32601, "no_capability"},
		"declared as null":              {"2025-11-25", `{"sampling":null}`, "sampling/createMessage", `{}`, -32601, "no_capability"},
		"elicitation before 2025-06-18": {"2025-03-26", `{"elicitation":{}}`, "elicitation/create", `{}`, -32601, "not_in_revision"},
		"a mode that is not declared":   {"2025-11-25", `{"elicitation":{}}`, "elicitation/create", `{"mode":"url","url":"x"}`, -32602, "no_capability"},
		"roots not declared":            {"2025-11-25", `{"sampling":{}}`, "roots/list", ``, -32601, "no_capability"},
		"a request of clients":          {"2025-11-25", `{"sampling":{}}`, "tools/call", `{}`, -32601, "not_in_revision"},
		"a modern client":               {"2026-07-28", `{"sampling":{}}`, "sampling/createMessage", `{}`, -32601, "not_in_revision"},
		"a modern client by ping":       {"2026-07-28", `{}`, "ping", ``, -32601, "not_in_revision"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inHeldLab(t, func(l *lab, h *held) {
				c := call{body: callTool}
				if tt.revision == "2026-07-28" {
					c.body = strings.Replace(modernCall, `clientCapabilities":{}`, `clientCapabilities":`+tt.capabilities, 1)
					c.header = modern("tools/call", "Mcp-Name", "slow")
				} else {
					c.header = on(l.connect(tt.revision, tt.capabilities))
				}
				go func() {
					x := <-h.exchanges
					o := x.Call(x.Context(), tt.method, []byte(tt.params))
					if o.Err == nil || o.Err.Code != tt.code || o.Err.Reason() != tt.reason {
						t.Errorf("exchange: %+v", o.Err)
					}
					if s := x.Session(); s != nil {
						if o := s.Call(x.Context(), tt.method, []byte(tt.params)); o.Err == nil || o.Err.Reason() != tt.reason {
							t.Errorf("session: %+v", o.Err)
						}
					}
					h.release <- done("x")
				}()
				a := l.ask(c)
				if !strings.Contains(a.body, "done") || strings.Contains(a.body, tt.method) {
					t.Errorf("%s", a.body)
				}
			})
		})
	}
}

// D3: who stops waiting for a reverse call says so; the end of the exchange
// ends it.
func TestReverseCallsEnd(t *testing.T) {
	cancelled := func(rid string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + rid + `}}`
	}
	t.Run("by the caller", func(t *testing.T) {
		inHeldLab(t, func(l *lab, h *held) {
			id := l.connect("2025-11-25", `{"roots":{}}`)
			s := l.stream(call{body: callTool, header: on(id)})
			x := <-h.exchanges
			ctx, cancel := context.WithCancel(l.t.Context())
			outcome := make(chan dispatch.Outcome)
			go func() { outcome <- x.Call(ctx, "roots/list", nil) }()
			rid := idOf(s.message().Data)
			cancel()
			if o := <-outcome; o.Err == nil {
				t.Errorf("%+v", o)
			}
			if got := string(s.message().Data); got != cancelled(rid) {
				t.Error(got)
			}
			if a := l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"result":{}}`, header: on(id)}); a.status != 202 {
				t.Errorf("the late answer: %d", a.status)
			}
			h.release <- done("x")
			s.message()
		})
	})
	for name, end := range map[string]func(l *lab, id string){
		"by the client's cancel": func(l *lab, id string) {
			l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`, header: on(id)})
		},
		"by DELETE":   func(l *lab, id string) { l.ask(call{method: "DELETE", header: on(id)}) },
		"by the end":  func(l *lab, _ string) { l.server.Cut(errors.New("x")) },
		"by the time": func(*lab, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			inHeldLab(t, func(l *lab, h *held) {
				id := l.connect("2025-11-25", `{"roots":{}}`)
				s := l.stream(call{body: callTool, header: on(id)})
				x := <-h.exchanges
				outcome := make(chan dispatch.Outcome)
				go func() { outcome <- x.Call(context.Background(), "roots/list", nil) }()
				s.message()
				over := make(chan struct{})
				go func() { defer close(over); end(l, id) }()
				if o := <-outcome; o.Err == nil {
					t.Errorf("%+v", o)
				}
				<-h.ended
				<-over
				_, _ = io.ReadAll(s.res.Body)
			})
		})
	}
}

// B6.3: a reverse request that belongs to no request goes on the GET stream,
// else on that of a running request, else it waits for one.
func TestUnattributedReverseCalls(t *testing.T) {
	answer := func(l *lab, id string, asked []byte) {
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + idOf(asked) + `,"result":{"roots":[]}}`, header: on(id)})
	}
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-11-25", `{"roots":{}}`)
		s := l.backend.session(0)
		outcome := make(chan dispatch.Outcome)
		ask := func() { go func() { outcome <- s.Call(s.Context(), "roots/list", nil) }() }
		ok := func(where string) {
			if o := <-outcome; string(o.Result) != `{"roots":[]}` {
				t.Errorf("%s: %+v", where, o)
			}
		}
		began := time.Now()
		ask()
		if o := <-outcome; o.Err == nil || o.Err.Reason() != "no_channel" || time.Since(began) != 30*time.Second {
			t.Errorf("without a stream: %+v after %v", o.Err, time.Since(began))
		}
		ask()
		time.Sleep(10 * time.Second)
		post := l.stream(call{body: callTool, header: on(id)})
		answer(l, id, post.message().Data)
		ok("on a request's stream")
		get := l.stream(call{method: "GET", header: on(id)})
		get.next()
		ask()
		answer(l, id, get.message().Data)
		ok("on the GET stream")
		get.close()
		synctest.Wait()
		<-h.exchanges
		h.release <- done("x")
		post.message()
		ask()
		time.Sleep(20 * time.Second)
		get = l.stream(call{method: "GET", header: on(id)})
		answer(l, id, get.message().Data)
		ok("on a GET stream that came")
		get.close()
	})
}

// A server may ask a client that declared nothing only for a ping. W21.1.
func TestReversePing(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", `{}`)
		get := l.stream(call{method: "GET", header: on(id)})
		outcome := make(chan dispatch.Outcome)
		s := b.session(0)
		go func() { outcome <- s.Call(s.Context(), "ping", nil) }()
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + idOf(get.message().Data) + `,"result":{}}`, header: on(id)})
		if o := <-outcome; string(o.Result) != `{}` {
			t.Errorf("%+v", o)
		}
		get.close()
	})
}

// The reverse requests of one session are bounded.
func TestReverseCallsAreBounded(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-11-25", `{"roots":{}}`)
		go func() {
			s := l.stream(call{body: callTool, header: on(id)})
			_, _ = io.ReadAll(s.res.Body)
		}()
		x := <-h.exchanges
		failed := make(chan dispatch.Outcome, 300)
		for range dispatch.MaxPending + 10 {
			go func() { failed <- x.Call(x.Context(), "roots/list", nil) }()
		}
		synctest.Wait()
		if n := len(failed); n != 10 {
			t.Errorf("%d were refused", n)
		}
		if o := <-failed; o.Err.Reason() != "busy" {
			t.Errorf("%+v", o.Err)
		}
		h.release <- done("x")
	})
}
