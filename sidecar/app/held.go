package app

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/hold"
)

// held lets requests wait while there is no workload (P1).
type held struct {
	next dispatch.Server
	gate *hold.Gate
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
	if m, _ := x.Method(); m.Listening {
		leave() // stays open for hours, and is no call that a restart waits for
		return h.next.Serve(ctx, x)
	}
	defer leave()
	return h.next.Serve(ctx, x)
}

// Prompt implements dispatch.Prompt: nobody waits here longer than he must.
func (h *held) Prompt(x *dispatch.Exchange) bool {
	next, ok := h.next.(dispatch.Prompt)
	return ok && next.Prompt(x)
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
