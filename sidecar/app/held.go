package app

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/hold"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

// held lets requests wait while there is no workload (P1), and learns the
// names of tools from the lists that pass.
type held struct {
	next  dispatch.Server
	gate  *hold.Gate
	tools *observe.Tools
}

// Open implements dispatch.Server.
func (h *held) Open(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	leave, err := h.gate.Enter(ctx)
	if err != nil {
		return refusal(err)
	}
	defer leave()
	return h.next.Open(ctx, x, s)
}

// Serve implements dispatch.Server.
func (h *held) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	leave, err := h.gate.Enter(ctx)
	if err != nil {
		return refusal(err)
	}
	if m, ok := x.Profile().Method(x.Msg.Method); ok && m.Listening {
		leave() // stays open for hours, and is no call that a restart waits for
		return h.next.Serve(ctx, x)
	}
	defer leave()
	out := h.next.Serve(ctx, x)
	if x.Msg.Method == mcp.MethodToolsList && out.Err == nil {
		h.tools.Learn(toolNames(out.Result)...)
	}
	return out
}

// Notify implements dispatch.Server. A notification does not wait: whom it was
// for is gone when the workload is.
func (h *held) Notify(ctx context.Context, s dispatch.Session, n *jsonrpc.Message) {
	h.next.Notify(ctx, s, n)
}

// Closed implements dispatch.Server.
func (h *held) Closed(s dispatch.Session, cause error) { h.next.Closed(s, cause) }

func refusal(err error) dispatch.Outcome {
	switch {
	case errors.Is(err, hold.ErrFull):
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests wait for the server to come back").WithReason(mcp.ReasonBusy))
	case errors.Is(err, hold.ErrAway):
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the server behind this endpoint is not ready").WithReason(mcp.ReasonStarting))
	}
	// The exchange has ended; the front knows how to say why.
	return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the request ended while it waited for the server"))
}

// toolNames reads the names of a tools/list result.
func toolNames(result []byte) (names []string) {
	tools, ok := strictjson.Get(result, "tools")
	if !ok {
		return nil
	}
	strictjson.Elements(tools, func(tool []byte) bool {
		raw, _ := strictjson.Get(tool, "name")
		if name, ok := strictjson.String(raw); ok {
			names = append(names, name)
		}
		return true
	})
	return names
}
