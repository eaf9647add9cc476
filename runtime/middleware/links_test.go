package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// One record for a request, nothing of what it carries.
func TestRequestLog(t *testing.T) {
	for name, tt := range map[string]struct {
		m     *middleware.Message
		o     jsonrpc.Outcome
		level slog.Level
		want  string
	}{
		"an answer": {&middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", ID: jsonrpc.RawID(`"a"`), Params: []byte(`{"name":"t","arguments":{"password":"secret"}}`), Revision: "2025-11-25", Session: "s", Principal: "p"},
			jsonrpc.Result([]byte(`{"text":"secret"}`)), slog.LevelInfo, `level=INFO msg=request method=tools/call id="\"a\"" tool=t revision=2025-11-25 session=s principal=p took=0s`},
		"a failure":             {request("prompts/get", `{"name":"x"}`), jsonrpc.Fail(jsonrpc.Errorf(-32603, "secret").WithReason("busy")), slog.LevelInfo, `level=WARN msg=request method=prompts/get id=1 prompt=x took=0s code=-32603 reason=busy`},
		"a long name":           {request("tools/call", `{"name":"`+strings.Repeat("x", 500)+`"}`), ok(), slog.LevelInfo, `level=INFO msg=request method=tools/call id=1 tool=` + strings.Repeat("x", 128) + ` took=0s`},
		"a notification":        {&middleware.Message{Kind: jsonrpc.KindNotification, Method: "notifications/x", Parent: jsonrpc.RawID("7")}, jsonrpc.Outcome{}, slog.LevelDebug, `level=DEBUG msg=notification method=notifications/x parent=7`},
		"a response":            {&middleware.Message{Kind: jsonrpc.KindResponse, Method: "roots/list", ID: jsonrpc.RawID("7")}, jsonrpc.Outcome{}, slog.LevelDebug, `level=DEBUG msg=response method=roots/list id=7`},
		"too quiet to be heard": {request("m", ""), ok(), slog.LevelWarn, ``},
		"a quiet notification":  {&middleware.Message{Kind: jsonrpc.KindNotification, Method: "n"}, jsonrpc.Outcome{}, slog.LevelInfo, ``},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: tt.level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				}}))
				if o, passed := run(t, middleware.RequestLog(log), tt.m, tt.o); passed == nil || string(o.Result) != string(tt.o.Result) || o.Err != tt.o.Err {
					t.Errorf("%+v", o)
				}
				if got := strings.TrimSpace(out.String()); got != tt.want || strings.Contains(got, "secret") {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			})
		})
	}
}

func TestToolTimeout(t *testing.T) {
	link := middleware.ToolTimeout(func(tool string) time.Duration {
		if tool == "free" {
			return 0
		}
		return time.Minute
	})
	call := func(tool string) *middleware.Message { return request("tools/call", `{"name":"`+tool+`"}`) }
	t.Run("in time", func(t *testing.T) {
		if o, passed := run(t, link, call("t"), ok()); o.Err != nil || passed == nil {
			t.Errorf("%+v", o)
		}
	})
	t.Run("a tool that lets go, and one that does not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, stubborn := range []time.Duration{0, time.Hour} {
				var cause error
				began := time.Now()
				o := middleware.NewStack(link).Run(t.Context(), call("t"), func(ctx context.Context, _ *middleware.Message) jsonrpc.Outcome {
					<-ctx.Done()
					cause = context.Cause(ctx)
					time.Sleep(stubborn)
					return ok()
				})
				if o.Err == nil || o.Err.Reason() != mcp.ReasonTimeout || time.Since(began) != time.Minute {
					t.Errorf("after %v: %+v", time.Since(began), o)
				}
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if !errors.Is(cause, middleware.ErrToolTimeout) {
					t.Error(cause)
				}
			}
		})
	})
	t.Run("no bound, and what is no call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, m := range []*middleware.Message{call("free"), request("tools/list", ""), {Kind: jsonrpc.KindResponse, Method: "tools/call"}} {
				middleware.NewStack(link).Run(t.Context(), m, func(ctx context.Context, _ *middleware.Message) jsonrpc.Outcome {
					if _, bounded := ctx.Deadline(); bounded {
						t.Errorf("%+v is bounded", m)
					}
					return ok()
				})
			}
		})
	})
	t.Run("the end of the request comes first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			o := middleware.NewStack(link).Run(ctx, call("t"), func(ctx context.Context, _ *middleware.Message) jsonrpc.Outcome {
				<-ctx.Done()
				return ok()
			})
			if o.Err != nil && o.Err.Reason() == mcp.ReasonTimeout {
				t.Errorf("%+v", o)
			}
		})
	})
	t.Run("a panic arrives", func(t *testing.T) {
		handler := middleware.Chain(middleware.Recover(func(v any, _ []byte) {
			if text, _ := v.(string); !strings.HasPrefix(text, "boom") {
				t.Errorf("%v", v)
			}
		}), link)(func(context.Context, *middleware.Message) jsonrpc.Outcome { panic("boom") })
		if o := handler(t.Context(), call("t")); o.Err == nil {
			t.Errorf("%+v", o)
		}
	})
}

// W38.9: all the scopes that the request needs are named.
func TestRequireScope(t *testing.T) {
	link := middleware.RequireScope(func(m *middleware.Message) []string {
		if m.Method == "tools/call" {
			return []string{"files:read", "files:write"}
		}
		return nil
	})
	who := func(scopes ...string) *auth.Identity { return &auth.Identity{Principal: "p", Scopes: scopes} }
	for name, tt := range map[string]struct {
		method string
		id     *auth.Identity
		data   string
	}{
		"all of them":     {"tools/call", who("files:read", "files:write", "more"), ""},
		"none needed":     {"tools/list", nil, ""},
		"one missing":     {"tools/call", who("files:read"), `{"reason":"insufficient_scope","scopes":["files:read","files:write"]}`},
		"the anonymous":   {"tools/call", nil, `{"reason":"insufficient_scope","scopes":["files:read","files:write"]}`},
		"no scopes in it": {"tools/call", who(), `{"reason":"insufficient_scope","scopes":["files:read","files:write"]}`},
	} {
		m := request(tt.method, "")
		m.Identity = tt.id
		o, passed := run(t, link, m, ok())
		if (passed != nil) != (tt.data == "") {
			t.Errorf("%s: %+v", name, o)
		}
		if tt.data == "" {
			continue
		}
		if string(o.Err.Data) != tt.data || auth.AsRefusal(o.Err) == nil || strings.Contains(string(jsonrpc.EncodeError(m.ID, o.Err)), "Cause") {
			t.Errorf("%s: %s", name, jsonrpc.EncodeError(m.ID, o.Err))
		}
	}
	if _, passed := run(t, link, &middleware.Message{Kind: jsonrpc.KindNotification, Method: "tools/call"}, jsonrpc.Outcome{}); passed == nil {
		t.Error("a notification was refused")
	}
}

func TestAuthenticated(t *testing.T) {
	m := request("tools/list", "")
	if o, passed := run(t, middleware.Authenticated(), m, ok()); passed != nil || auth.AsRefusal(o.Err).Code.Status() != 401 || o.Err.Reason() != "not_authenticated" {
		t.Errorf("%+v", o)
	}
	m.Identity = &auth.Identity{Principal: "p"}
	if _, passed := run(t, middleware.Authenticated(), m, ok()); passed == nil {
		t.Error("refused")
	}
}

// W24.12, W15.11; W15.10
func TestAuthorizeTools(t *testing.T) {
	link := middleware.AuthorizeTools(func(_ context.Context, m *middleware.Message, tool string) error {
		switch {
		case m.Principal == "root", tool == "open":
			return nil
		case tool == "scoped":
			return auth.Refuse(auth.InsufficientScope, "no")
		}
		return errors.New("secret")
	})
	for tool, want := range map[string]string{"open": "", "scoped": "insufficient_scope", "hidden": "unknown tool: hidden"} {
		o, passed := run(t, link, request("tools/call", `{"name":"`+tool+`"}`), ok())
		switch {
		case want == "" && passed == nil, want != "" && passed != nil:
			t.Errorf("%s: %+v", tool, o)
		case want == "":
		case o.Err.Reason() != want && o.Err.Message != want, strings.Contains(o.Err.Message, "secret"):
			t.Errorf("%s: %+v", tool, o.Err)
		}
	}
	for name, tt := range map[string]struct{ principal, result, want string }{
		"some":            {"", `{"tools":[{"name":"hidden"},{"name":"open","x":1.0},{"name":"scoped"}],"nextCursor":"c"}`, `{"tools":[{"name":"open","x":1.0},{"name":"scoped"}],"nextCursor":"c"}`},
		"all":             {"root", `{"tools":[ {"name":"hidden"} ]}`, `{"tools":[ {"name":"hidden"} ]}`},
		"none":            {"", `{"tools":[{"name":"hidden"},{"name":5},7]}`, `{"tools":[]}`},
		"an empty list":   {"", `{"tools":[]}`, `{"tools":[]}`},
		"no list at all":  {"", `{"tools":5}`, `{"tools":[]}`},
		"no result":       {"", `[]`, `{"tools":[]}`},
		"a broken result": {"", `{"tools":[{"name":"open"}`, `{"tools":[]}`},
	} {
		m := request("tools/list", "")
		m.Principal = tt.principal
		if o, _ := run(t, link, m, jsonrpc.Result([]byte(tt.result))); string(o.Result) != tt.want {
			t.Errorf("%s: %s", name, o.Result)
		}
	}
	failed := jsonrpc.Fail(jsonrpc.Errorf(-5, "x"))
	if o, _ := run(t, link, request("tools/list", ""), failed); o.Err != failed.Err {
		t.Errorf("%+v", o)
	}
}

func TestMetrics(t *testing.T) {
	var seen []string
	o := &hook.Observer{
		OperationStarted: func(op hook.Operation) { seen = append(seen, "start "+op.Method+" "+op.Tool+op.Prompt+" "+op.Binding) },
		OperationEnded:   func(op hook.Operation, e hook.End) { seen = append(seen, "end "+op.Method+" "+e.ErrorType) },
	}
	link := middleware.Metrics(o, mcp.Stdio)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx  context.Context
		m    *middleware.Message
		o    jsonrpc.Outcome
		want string
	}{
		{t.Context(), request("tools/call", `{"name":"t"}`), ok(), "start tools/call t stdio,end tools/call "},
		{t.Context(), request("tools/call", `{}`), jsonrpc.Result([]byte(`{"isError":true}`)), "start tools/call  stdio,end tools/call tool_error"},
		{t.Context(), request("prompts/get", `{"name":"p"}`), jsonrpc.Fail(jsonrpc.Errorf(-32602, "")), "start prompts/get p stdio,end prompts/get -32602"},
		{t.Context(), request("vendor/x", ``), jsonrpc.Fail(jsonrpc.Errorf(-32603, "").WithReason("timeout")), "start _OTHER  stdio,end _OTHER timeout"},
		{gone, request("ping", ``), jsonrpc.Fail(jsonrpc.Errorf(-32603, "")), "start ping  stdio,end ping cancelled"},
		{t.Context(), &middleware.Message{Kind: jsonrpc.KindNotification, Method: "notifications/x"}, jsonrpc.Outcome{}, ""},
	} {
		seen = nil
		middleware.NewStack(link).Run(tt.ctx, tt.m, func(context.Context, *middleware.Message) jsonrpc.Outcome { return tt.o })
		if got := strings.Join(seen, ","); got != tt.want {
			t.Errorf("got %s\nwant %s", got, tt.want)
		}
	}
}
