package endpoint

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Carry carries the questions of a task on an exchange, with the related-task
// key where the id is given (W35.10).
func Carry(x *dispatch.Exchange, id string) task.Carry {
	return func(ctx context.Context, in task.Input) (jsonrpc.Outcome, bool) {
		params := in.Params
		if id != "" {
			params = task.Relate(params, id)
		}
		o := x.Call(ctx, in.Method, params)
		if o.Err == nil {
			return o, true
		}
		switch o.Err.Reason() { // of our own making: the client was not asked, or has not answered
		case mcp.ReasonNoChannel, mcp.ReasonNoCapability, mcp.ReasonBusy, mcp.ReasonSessionEnded, mcp.ReasonTimeout, mcp.ReasonDraining, mcp.ReasonOverflow, "not_in_revision":
			return o, false
		}
		return o, true
	}
}
