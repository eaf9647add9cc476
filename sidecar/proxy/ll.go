package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// ll serves a request of a session: the same request on the session's own leg,
// whatever its method; what the workload does not have it refuses itself.
func (p *Proxy) ll(ctx context.Context, x *dispatch.Exchange, state *session) dispatch.Outcome {
	switch m, _ := x.Method(); {
	case m.Needs == mcp.CapTasks: // methods behind a capability that is not advertised are unknown (W5.6)
		return p.taskMethod(ctx, x)
	case m.Name == mcp.MethodPing: // B11.7
		return dispatch.Result([]byte("{}"))
	case m.Name == mcp.MethodToolsCall && p.offersTasks(x.Profile()) && endpoint.Named(x.Msg.Params):
		if o := p.asked(ctx, x, func(ctx context.Context, h *task.Handle) dispatch.Outcome {
			return p.llCall(ctx, x, state, request(x, &sessionTask{session: state, x: x, h: h}))
		}); !o.IsZero() {
			return o
		}
	}
	return p.llCall(ctx, x, state, request(x, x))
}

// llCall makes a request on the session's leg.
func (p *Proxy) llCall(ctx context.Context, x *dispatch.Exchange, state *session, r peer.Request) dispatch.Outcome {
	if w := state.speaks.Load(); r.Method == mcp.MethodComplete && w != nil && !w.CompletionContext {
		r.Edits = append(r.Edits, strictjson.Delete("context")) // B11.9
	}
	var answer peer.Answer
	var err error
	if state.augments {
		answer, err = p.callTool(ctx, state.leg, r, state.augment(r))
	} else {
		answer, err = p.call(ctx, state.leg, r)
	}
	if err != nil {
		return dispatch.Fail(failed(ctx, err))
	}
	if answer.Err != nil {
		return dispatch.Fail(toLegacy(x.Profile(), answer.Err))
	}
	if isList(r.Method) {
		return state.said(r.Method, p.page(ctx, x, state.leg, r, answer.Result))
	}
	return state.said(r.Method, p.result(x.Profile(), r.Method, answer.Result))
}
