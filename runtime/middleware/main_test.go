package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run takes one message through a link to an end that answers with o.
func run(t *testing.T, link middleware.Middleware, m *middleware.Message, o jsonrpc.Outcome) (out jsonrpc.Outcome, passed *middleware.Message) {
	t.Helper()
	out = middleware.NewStack(link).Run(t.Context(), m, func(_ context.Context, m *middleware.Message) jsonrpc.Outcome {
		copied := *m
		passed = &copied
		return o
	})
	return out, passed
}

func request(method, params string) *middleware.Message {
	return &middleware.Message{Kind: jsonrpc.KindRequest, Method: method, ID: jsonrpc.RawID("1"), Params: []byte(params)}
}

func ok() jsonrpc.Outcome { return jsonrpc.Result([]byte(`{}`)) }

func TestChain(t *testing.T) {
	var order string
	link := func(name string) middleware.Middleware {
		return func(next middleware.Handler) middleware.Handler {
			return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
				order += name + "("
				defer func() { order += ")" }()
				return next(ctx, m)
			}
		}
	}
	for name, tt := range map[string]struct {
		links []middleware.Middleware
		want  string
	}{
		"the first is the outermost": {[]middleware.Middleware{link("a"), link("b"), link("c")}, "a(b(c()))"},
		"nil ones are left out":      {[]middleware.Middleware{nil, link("a"), nil}, "a()"},
	} {
		order = ""
		run(t, middleware.Chain(tt.links...), request("m", ""), ok())
		if order != tt.want {
			t.Errorf("%s: %s", name, order)
		}
	}
	if middleware.Chain() != nil || middleware.Chain(nil, nil) != nil || middleware.NewStack(nil) != nil {
		t.Error("an empty chain is something")
	}
}

// A panic becomes the answer of a request, and the loss of anything else.
func TestRecover(t *testing.T) {
	var reported any
	link := middleware.Recover(func(v any, stack []byte) {
		if len(stack) == 0 {
			t.Error("no stack")
		}
		reported = v
	})
	boom := errors.New("boom")
	handler := link(func(context.Context, *middleware.Message) jsonrpc.Outcome { panic(boom) })
	if o := handler(t.Context(), request("m", "")); o.Err == nil || o.Err.Code != jsonrpc.CodeInternal || o.Err.Message != "internal error" || reported != boom {
		t.Errorf("%+v, %v", o, reported)
	}
	if o := handler(t.Context(), &middleware.Message{Kind: jsonrpc.KindNotification}); !o.IsZero() {
		t.Errorf("%+v", o)
	}
	quiet := middleware.Recover(nil)(func(context.Context, *middleware.Message) jsonrpc.Outcome { panic("x") })
	if o := quiet(t.Context(), request("m", "")); o.Err == nil {
		t.Errorf("%+v", o)
	}
	if o, _ := run(t, link, request("m", ""), ok()); string(o.Result) != "{}" {
		t.Errorf("%+v", o)
	}
}
