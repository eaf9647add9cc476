package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// hello stands for what is behind a stack.
func hello(context.Context, *middleware.Message) jsonrpc.Outcome {
	return jsonrpc.Result([]byte(`{"hello":true}`))
}

func show(o jsonrpc.Outcome) {
	if o.Err != nil {
		fmt.Println(o.Err.Code, o.Err.Message, string(o.Err.Data))
		return
	}
	fmt.Println(string(o.Result))
}

// A link of one's own: it counts requests by method.
func Example() {
	counts := map[string]int{}
	count := func(next middleware.Handler) middleware.Handler {
		return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			if m.Kind == jsonrpc.KindRequest {
				counts[m.Method]++
			}
			return next(ctx, m)
		}
	}
	handler := middleware.Chain(middleware.Recover(nil), count)(hello)
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/list"}))
	fmt.Println(counts)
	// Output:
	// {"hello":true}
	// map[tools/list:1]
}

func ExampleRecover() {
	handler := middleware.Recover(func(v any, _ []byte) { fmt.Println("panicked:", v) })(
		func(context.Context, *middleware.Message) jsonrpc.Outcome { panic("boom") })
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/list"}))
	// Output:
	// panicked: boom
	// -32603 internal error
}

func ExampleRequestLog() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}}))
	handler := middleware.RequestLog(log)(hello)
	handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", ID: jsonrpc.RawID("1"), Params: []byte(`{"name":"add"}`)})
	// Output: level=INFO msg=request method=tools/call id=1 tool=add
}

func ExampleToolTimeout() {
	handler := middleware.ToolTimeout(func(tool string) time.Duration { return time.Millisecond })(
		func(ctx context.Context, _ *middleware.Message) jsonrpc.Outcome {
			<-ctx.Done()
			return jsonrpc.Outcome{}
		})
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", Params: []byte(`{"name":"slow"}`)}))
	// Output: -32603 the tool took too long {"reason":"timeout"}
}

func ExampleRequireScope() {
	handler := middleware.RequireScope(func(m *middleware.Message) []string {
		if m.Method == mcp.MethodToolsCall {
			return []string{"tools"}
		}
		return nil
	})(hello)
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", Identity: &auth.Identity{Principal: "alice"}}))
	// Output: -32600 the token lacks the scope tools {"reason":"insufficient_scope","scopes":["tools"]}
}

func ExampleAuthenticated() {
	handler := middleware.Authenticated()(hello)
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/list"}))
	// Output: -32600 no bearer token {"reason":"not_authenticated"}
}

func ExampleAuthorizeTools() {
	handler := middleware.AuthorizeTools(func(_ context.Context, m *middleware.Message, tool string) error {
		if tool == "delete" && m.Principal != "root" {
			return errors.New("only root")
		}
		return nil
	})(func(context.Context, *middleware.Message) jsonrpc.Outcome {
		return jsonrpc.Result([]byte(`{"tools":[{"name":"read"},{"name":"delete"}]}`))
	})
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/list"}))
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", Params: []byte(`{"name":"delete"}`)}))
	// Output:
	// {"tools":[{"name":"read"}]}
	// -32602 unknown tool: delete
}

func ExampleAllowedRoots() {
	handler := middleware.AllowedRoots(middleware.Roots{
		Allowed:   []string{"/srv/data"},
		Arguments: map[string][]string{"read_file": {"path"}},
	})(hello)
	show(handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", Params: []byte(`{"name":"read_file","arguments":{"path":"/srv/data/../../etc/passwd"}}`)}))
	// Output: -32602 the path is outside of the allowed roots {"reason":"outside_roots"}
}

func ExampleRateLimit() {
	handler := middleware.RateLimit(middleware.Rate{Every: time.Hour, Burst: 1})(hello)
	for range 2 {
		o := handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/list", Bucket: "alice"})
		fmt.Println(o.Err != nil)
	}
	// Output:
	// false
	// true
}

func ExampleMetrics() {
	o := &hook.Observer{OperationEnded: func(op hook.Operation, e hook.End) { fmt.Println(op.Method, op.Tool, e.ErrorType) }}
	handler := middleware.Metrics(o, mcp.Streamable)(func(context.Context, *middleware.Message) jsonrpc.Outcome {
		return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no"))
	})
	handler(context.Background(), &middleware.Message{Kind: jsonrpc.KindRequest, Method: "tools/call", Params: []byte(`{"name":"add"}`)})
	// Output: tools/call add -32602
}
