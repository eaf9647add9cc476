package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// legacy serves a request of a session: the same request on the session's own
// leg, whatever its method; what the workload does not have it refuses itself.
func (p *Proxy) legacy(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	state, ok := x.Session().Value().(*session)
	if !ok {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session is not open"))
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
