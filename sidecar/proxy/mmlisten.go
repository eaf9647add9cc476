package proxy

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// mmListen is a client's subscription at the workload: one each, so that what
// one caller may see reaches nobody else. The workload's restart does not end
// it.
func (p *Proxy) mmListen(ctx context.Context, x *dispatch.Exchange, conv upstream.Conversation) dispatch.Outcome {
	e, refused := p.mmErrand(x, conv)
	if refused != nil {
		return dispatch.Fail(refused)
	}
	tasks, more, refused := p.mmFilter(x)
	if refused != nil {
		return dispatch.Fail(refused)
	}
	// No progress belongs to a subscription (W33.9), so no token stands for the
	// client's own.
	params, err := strictjson.Splice(e.request.Params, append(more, strictjson.Delete("_meta", mcp.MetaProgressToken))...)
	if err != nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "notifications must say what to listen to"))
	}
	id := []byte(x.ID().String())
	l := &listening{conv: conv, params: params}
	say := func(raw []byte, wait bool) {
		named, err := strictjson.Splice(raw, strictjson.Set(id, "params", "_meta", mcp.MetaSubscriptionID)) // W33.5
		if err != nil || tell(x, named, wait) != nil {
			p.lossy(LossyNotification)
		}
	}
	l.acked = func(honoured []byte, again bool) {
		if again {
			p.heard(mcp.NotifyToolsChanged)
			for _, raw := range missed(honoured) {
				say(raw, true)
			}
			return
		}
		say(append(append([]byte(`{"jsonrpc":"2.0","method":"`+mcp.NotifyAcknowledged+`","params":{"notifications":`), tasks.honoured(honoured)...), "}}"...), true)
	}
	l.changed = func(in peer.Incoming) {
		if in.Msg.Method == mcp.NotifyMessage || in.Msg.Method == mcp.NotifyProgress { // W33.9
			p.lossy(LossyNotification)
			return
		}
		p.heard(in.Msg.Method)
		raw := unforged(in.Msg)
		if in.Msg.Method == mcp.NotifyTasks && raw != nil {
			if raw = tasks.told(raw); raw == nil {
				p.lossy(LossyNotification)
			}
		}
		if raw != nil {
			say(raw, in.MayWait)
		}
	}
	answer, err := l.run(ctx)
	switch {
	case answer.Err != nil:
		return dispatch.Fail(mmError(x.ClientCapabilities(), answer.Err))
	case err == nil:
		out, err := strictjson.Splice(answer.Result, append(append(forgedKeys(answer.Result), completed(answer.Result)...),
			strictjson.Set(id, "_meta", mcp.MetaSubscriptionID))...)
		if err != nil {
			return badResponse()
		}
		return dispatch.Result(out)
	case l.times > 0 && (endsWell(context.Cause(ctx)) || errors.Is(err, peer.ErrWithdrawn)):
		// It is we who end it, or the workload did without a result (B10.6).
		return dispatch.Result(listenResult(id))
	}
	return dispatch.Fail(failed(ctx, err))
}

// listenResult is the last word of a subscription (W33.7).
func listenResult(id []byte) []byte {
	return append(append([]byte(`{"resultType":"complete","_meta":{"`+mcp.MetaSubscriptionID+`":`), id...), "}}"...)
}

// endsWell: a subscription that ends with this cause ends with a result.
func endsWell(cause error) bool {
	return errors.Is(cause, dispatch.ErrGoingAway) || errors.Is(cause, dispatch.ErrShutdown) || errors.Is(cause, auth.ErrExpired)
}

// heard draws our own conclusions from a change.
func (p *Proxy) heard(method string) {
	if method == mcp.NotifyToolsChanged {
		p.tools.changed() // P25
	}
}
