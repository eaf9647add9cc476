package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// ErrToolTimeout is the cause with which ToolTimeout ends a call's context.
var ErrToolTimeout = errors.New("the tool took too long")

// ToolTimeout bounds each tools/call by what limit says for its tool; 0 and less
// mean no bound. When the time is up the context of the call ends with
// ErrToolTimeout and the caller gets -32603 with the reason "timeout" at once,
// also from a tool that does not let go; that one keeps its turn until it does.
func ToolTimeout(limit func(tool string) time.Duration) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			tool, ok := calledTool(m)
			if !ok {
				return next(ctx, m)
			}
			most := limit(tool)
			if most <= 0 {
				return next(ctx, m)
			}
			ctx, stop := context.WithTimeoutCause(ctx, most, ErrToolTimeout)
			defer stop()
			return inTime(ctx, m, next)
		}
	}
}

// finished is how a call on a goroutine of its own ended.
type finished struct {
	outcome  jsonrpc.Outcome
	panicked any
	stack    []byte
}

// inTime returns when next has, or when the time is up.
func inTime(ctx context.Context, m *Message, next Handler) jsonrpc.Outcome {
	end := make(chan finished, 1)
	own := *m // m goes back to the links further out
	go func() {
		var f finished
		defer func() {
			if v := recover(); v != nil {
				f.panicked, f.stack = v, debug.Stack()
			}
			end <- f
		}()
		f.outcome = next(ctx, &own)
	}()
	select {
	case f := <-end:
		if f.panicked != nil {
			panic(fmt.Sprintf("%v\n\n%s", f.panicked, f.stack))
		}
		return f.outcome
	case <-ctx.Done():
	}
	if !errors.Is(context.Cause(ctx), ErrToolTimeout) {
		// The request itself has ended; whoever ended it waits for nobody.
		return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the request has ended"))
	}
	return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the tool took too long").WithReason(mcp.ReasonTimeout))
}
