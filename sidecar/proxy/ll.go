package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// ll serves a request of a session: the same request on the session's own leg,
// whatever its method; what the workload does not have it refuses itself.
func (p *Proxy) ll(ctx context.Context, x *dispatch.Exchange, state *session) dispatch.Outcome {
	if !llOffered(x) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	}
	if x.Msg.Method == mcp.MethodPing { // B11.7
		return dispatch.Result([]byte("{}"))
	}
	r := request(x, x)
	answer, err := p.call(ctx, state.leg, r)
	if err != nil {
		return dispatch.Fail(failed(ctx, err))
	}
	if answer.Err != nil {
		return dispatch.Fail(toLegacy(x.Profile(), answer.Err))
	}
	if isList(r.Method) {
		return p.page(ctx, x, state.leg, r, answer.Result)
	}
	return p.result(x.Profile(), r.Method, answer.Result)
}

// llOffered reports whether a request is for something that is advertised:
// methods behind a capability that is not are unknown (W5.6).
func llOffered(x *dispatch.Exchange) bool {
	m, _ := x.Profile().Method(x.Msg.Method)
	return m.Needs != mcp.CapTasks
}
