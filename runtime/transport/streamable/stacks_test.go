package streamable_test

import (
	"context"
	"net/http"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// tracer is a link that writes down every message of both stacks.
type tracer struct {
	mu    sync.Mutex
	lines []string
}

func (r *tracer) link(stack string) middleware.Middleware {
	return func(next middleware.Handler) middleware.Handler {
		return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			r.add(stack, m)
			return next(ctx, m)
		}
	}
}

func (r *tracer) add(stack string, m *middleware.Message) {
	kind := [...]string{jsonrpc.KindRequest: "request", jsonrpc.KindNotification: "note", jsonrpc.KindResponse: "response"}[m.Kind]
	line := strings.Join([]string{stack, kind, m.Method}, " ")
	if !m.ID.IsZero() {
		line += " " + m.ID.String()
	}
	if !m.Parent.IsZero() {
		line += " of " + m.Parent.String()
	}
	if m.Err != nil {
		line += " failed"
	}
	switch {
	case m.Principal != m.Identity.Name() && m.Identity != nil:
		line += " principal " + m.Principal
	case m.Revision != mcp.Revision20260728 && m.Session == "":
		line += " no session"
	}
	r.mu.Lock()
	r.lines = append(r.lines, line)
	r.mu.Unlock()
}

// want compares what has passed since the last want, in any order, and forgets
// it.
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

func traced(t *testing.T, b *backend, f func(l *lab, r *tracer)) {
	t.Helper()
	inLab(t, b, func(l *lab) {
		r := &tracer{}
		l.server.Receive, l.server.Send = r.link("receive"), r.link("send")
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) { return &auth.Identity{Principal: "alice"}, nil }
		f(l, r)
	})
}

// D4: both stacks of a server see every message exactly once.
func TestStacksSeeEverythingOnce(t *testing.T) {
	b := &backend{}
	traced(t, b, func(l *lab, r *tracer) {
		h := hold()
		id := l.connect("2025-03-26", `{"sampling":{}}`)
		r.want(t, "initialize", `receive request initialize "init"`, `send response initialize "init"`)

		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header: on(id)})
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`, header: on(id)})
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, header: on(id)})
		r.want(t, "notifications of the client", "receive note notifications/initialized", "receive note notifications/progress", "receive note notifications/roots/list_changed")

		for _, method := range []string{"ping", "no/such", "server/discover", "tools/list"} {
			l.ask(call{body: `{"jsonrpc":"2.0","id":"` + method + `","method":"` + method + `"}`, header: on(id)})
		}
		r.want(t, "requests", `receive request ping "ping"`, `send response ping "ping"`,
			`receive request no/such "no/such"`, `send response no/such "no/such" failed`,
			`receive request server/discover "server/discover"`, `send response server/discover "server/discover" failed`,
			`receive request tools/list "tools/list"`, `send response tools/list "tools/list"`)

		b.serve = h.handle
		s := l.stream(call{body: callTool, header: on(id)})
		x := <-h.exchanges
		outcomes := make(chan dispatch.Outcome)
		go func() {
			_ = x.Notify(progress(1))
			_ = x.NotifyWait(x.Context(), progress(2))
			outcomes <- x.Call(x.Context(), "sampling/createMessage", []byte(`{}`))
		}()
		s.message()
		s.message()
		rid := idOf(s.message().Data)
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"result":{}}`, header: on(id)})
		<-outcomes
		h.release <- done("x")
		s.message()
		s.ended()
		r.want(t, "a call with a reverse call", `receive request tools/call "c1"`, `send note notifications/progress of "c1"`, `send note notifications/progress of "c1"`,
			`send request sampling/createMessage `+rid+` of "c1"`, `receive response sampling/createMessage `+rid+` of "c1"`, `send response tools/call "c1"`)

		s = l.stream(call{body: callTool, header: on(id)})
		x = <-h.exchanges
		ctx, cancel := context.WithCancel(l.t.Context())
		go func() { outcomes <- x.Call(ctx, "sampling/createMessage", nil) }()
		rid = idOf(s.message().Data)
		cancel() // the reverse call
		<-outcomes
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`, header: on(id)})
		s.close()
		r.want(t, "cancels", `receive request tools/call "c1"`, `send request sampling/createMessage `+rid+` of "c1"`, `send note notifications/cancelled of "c1"`,
			`receive note notifications/cancelled`)

		b.serve = nil
		get := l.stream(call{method: "GET", header: on(id)})
		get.next()
		_ = b.session(0).Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		get.message()
		go func() { outcomes <- b.session(0).Call(l.t.Context(), "sampling/createMessage", nil) }()
		rid = idOf(get.message().Data)
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + rid + `,"error":{"code":-1,"message":"no"}}`, header: on(id)})
		<-outcomes
		r.want(t, "what belongs to no request", `send note notifications/tools/list_changed`, `send request sampling/createMessage `+rid, `receive response sampling/createMessage `+rid+` failed`)

		l.ask(call{body: `[` + list + `,{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"stray","result":{}}]`, header: on(id)})
		r.want(t, "a batch", `receive request tools/list 1`, `send response tools/list 1`, `receive request ping 2`, `send response ping 2`, `receive note notifications/x`, `receive response  "stray"`)
	})
}

// D4, W19.9: and a server of stateless requests cancels nothing.
func TestStacksSeeModernMessagesOnce(t *testing.T) {
	b := &backend{}
	traced(t, b, func(l *lab, r *tracer) {
		ask := func(method string) {
			l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + envelope + `}}`, header: modern(method)})
		}
		for _, method := range []string{"server/discover", "tools/list", "ping", "no/such"} {
			ask(method)
		}
		r.want(t, "requests", `receive request server/discover 1`, `send response server/discover 1`, `receive request tools/list 1`, `send response tools/list 1`,
			`receive request ping 1`, `send response ping 1 failed`, `receive request no/such 1`, `send response no/such 1 failed`)
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/x","params":{` + envelope + `}}`, header: modern("notifications/x")})
		r.want(t, "a notification", "receive note notifications/x")

		b.serve = progressThenDone
		l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")})
		r.want(t, "a stream", `receive request tools/call "c1"`, `send note notifications/progress of "c1"`, `send response tools/call "c1"`)

		h := hold()
		b.serve = h.handle
		ctx, cancel := context.WithCancel(l.t.Context())
		go func() {
			_, _ = l.try(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow"), ctx: ctx})
		}()
		<-h.exchanges
		cancel()
		synctest.Wait()
		r.want(t, "a disconnect", `receive request tools/call "c1"`)

		l.settings(func(s *streamable.Settings) { s.RequestTimeout = time.Second })
		go func() { _, _ = l.try(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}) }()
		<-h.exchanges
		time.Sleep(time.Minute)
		r.want(t, "a deadline", `receive request tools/call "c1"`, `send response tools/call "c1" failed`)
	})
}

// Links may replace what travels, answer themselves, and drop.
func TestLinksChangeMessages(t *testing.T) {
	edit := func(kind jsonrpc.Kind, method string, f func(m *middleware.Message)) middleware.Middleware {
		return func(next middleware.Handler) middleware.Handler {
			return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
				if m.Kind == kind && m.Method == method {
					f(m)
				}
				return next(ctx, m)
			}
		}
	}
	drop := func(method string) middleware.Middleware {
		return func(next middleware.Handler) middleware.Handler {
			return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
				if m.Method == method && m.Kind != jsonrpc.KindRequest {
					return jsonrpc.Outcome{}
				}
				return next(ctx, m)
			}
		}
	}
	var params, meta string
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		params, meta = string(x.Msg.Params), string(x.ProgressToken())
		_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"secret"}}`))
		_ = x.Notify(progress(1))
		return dispatch.Result([]byte(`{"a":1}`))
	}}
	inLab(t, b, func(l *lab) {
		l.server.Receive = middleware.Chain(
			edit(jsonrpc.KindRequest, "tools/list", func(m *middleware.Message) { m.Params = []byte(`{"cursor":"c","_meta":{"progressToken":5}}`) }),
			edit(jsonrpc.KindRequest, "prompts/list", func(m *middleware.Message) { m.Params = []byte(`[]`) }),
			func(next middleware.Handler) middleware.Handler {
				return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
					switch m.Method {
					case "prompts/get":
						return jsonrpc.Result([]byte(`{"own":true}`))
					case "resources/read":
						return jsonrpc.Outcome{}
					case "resources/list":
						return next(ctx, &middleware.Message{Kind: m.Kind, Method: m.Method, ID: m.ID})
					case "tools/call":
						panic("a link")
					}
					return next(ctx, m)
				}
			},
			drop("notifications/roots/list_changed"),
			edit(jsonrpc.KindNotification, "notifications/x", func(m *middleware.Message) { m.Params = []byte(`{"b":2}`) }),
		)
		l.server.Send = middleware.Chain(
			edit(jsonrpc.KindResponse, "tools/list", func(m *middleware.Message) { m.Result = []byte(`{"b":2}`) }),
			edit(jsonrpc.KindNotification, "notifications/message", func(m *middleware.Message) { m.Params = []byte(`{"data":"***"}`) }),
			drop("notifications/progress"), drop("completion/complete"),
		)
		id := l.connect("2025-11-25", "{}")
		ask := func(method string) string {
			a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`, header: on(id)})
			var out []string
			for _, e := range parse(a.body) {
				if e.IsMessage() {
					out = append(out, string(e.Data))
				}
			}
			if out == nil {
				return a.body
			}
			return strings.Join(out, "\n")
		}
		if got := ask("tools/list"); got != `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"***"}}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":{"b":2}}` {
			t.Error(got)
		}
		if params != `{"cursor":"c","_meta":{"progressToken":5}}` || meta != "5" {
			t.Errorf("the handler saw %s, token %s", params, meta)
		}
		for method, want := range map[string]string{
			"prompts/get":         `"result":{"own":true}`,
			"resources/read":      `"error":{"code":-32603,"message":"no answer"}`,
			"prompts/list":        `"error":{"code":-32603,"message":"a link made params that are no object"}`,
			"resources/list":      `"error":{"code":-32603,"message":"a link passed on a message of its own"}`,
			"tools/call":          `"error":{"code":-32603,"message":"internal error"}`,
			"completion/complete": `"error":{"code":-32603,"message":"no answer"}`,
		} {
			if got := ask(method); !strings.Contains(got, `{"jsonrpc":"2.0","id":1,`+want+"}") {
				t.Errorf("%s: %s", method, got)
			}
		}
		var seen string
		b.notify = func(_ dispatch.Session, n *jsonrpc.Message) { seen = string(n.Raw) }
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, header: on(id)})
		if seen != "" {
			t.Errorf("not dropped: %s", seen)
		}
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}`, header: on(id)})
		if v, _ := strictjson.GetPath([]byte(seen), "params", "b"); string(v) != "2" {
			t.Errorf("not changed: %s", seen)
		}
	})
}
