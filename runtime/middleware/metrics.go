package middleware

import (
	"context"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Metrics reports every request to OperationStarted and OperationEnded of o, as
// the dispatcher does for what a server receives: for the calls of a client and
// for reverse requests, which no dispatcher sees. binding is what they travel
// on.
func Metrics(o *hook.Observer, binding mcp.Binding) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			if m.Kind != jsonrpc.KindRequest {
				return next(ctx, m)
			}
			op := hook.Operation{Method: label(m.Method), Revision: m.Revision, Binding: binding.String()}
			switch m.Method {
			case mcp.MethodToolsCall:
				op.Tool = textParam(m, "name")
			case mcp.MethodPromptsGet:
				op.Prompt = textParam(m, "name")
			}
			began := time.Now()
			o.Start(op)
			out := next(ctx, m)
			o.Finish(op, ending(ctx, op.Method, out, time.Since(began)))
			return out
		}
	}
}

func ending(ctx context.Context, method string, o jsonrpc.Outcome, took time.Duration) hook.End {
	end := hook.End{Duration: took}
	switch {
	case o.Err != nil && ctx.Err() != nil:
		end.ErrorType, end.Code = "cancelled", o.Err.Code
	case o.Err != nil && o.Err.Reason() == mcp.ReasonTimeout:
		end.ErrorType, end.Code = "timeout", o.Err.Code
	case o.Err != nil:
		end.ErrorType, end.Code = strconv.FormatInt(o.Err.Code, 10), o.Err.Code
	case method == mcp.MethodToolsCall:
		if isError, _ := strictjson.Get(o.Result, "isError"); string(isError) == "true" {
			end.ErrorType = "tool_error"
		}
	}
	return end
}
