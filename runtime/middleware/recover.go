package middleware

import (
	"context"
	"runtime/debug"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Recover turns a panic of whatever stands behind it into an internal error,
// and tells report, which may be nil. A notification or response that caused
// one is lost. A server's dispatcher does the same for what stands behind its
// stacks; Recover is for links further in, for clients, and for handlers that
// run elsewhere.
func Recover(report func(value any, stack []byte)) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) (o jsonrpc.Outcome) {
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if report != nil {
					report(v, debug.Stack())
				}
				o = jsonrpc.Outcome{}
				if m.Kind == jsonrpc.KindRequest {
					o = jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error"))
				}
			}()
			return next(ctx, m)
		}
	}
}
