package proxy

import (
	"bytes"
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// mm serves a request that carries its own metadata on a workload that wants
// it so: the request goes as it is, but for the state that we sealed (B9.1) and
// what is ours on each leg (ids, progress tokens, B3.6).
func (p *Proxy) mm(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	if level := x.LogLevel(); level != "" && !mcp.LogLevel(level) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown log level")) // W23.8
	}
	conv, err := p.cfg.Workload.Conversation(ctx)
	if err != nil {
		return dispatch.Fail(notOpened(ctx, err))
	}
	switch x.Msg.Method {
	case mcp.MethodTasksResult, mcp.MethodTasksList: // of another era; they would tell of tasks of others
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	case mcp.MethodDiscover:
		return p.mmDiscover(ctx, x, conv)
	case mcp.MethodListen:
		return p.mmListen(ctx, x, conv)
	}
	return p.mmAsk(ctx, x, conv)
}

// mmAsk has the workload answer the request.
func (p *Proxy) mmAsk(ctx context.Context, x *dispatch.Exchange, conv upstream.Conversation) dispatch.Outcome {
	e, refused := p.mmErrand(x, conv)
	if refused != nil {
		return dispatch.Fail(refused)
	}
	answer, err := e.run(ctx)
	switch {
	case err != nil:
		return dispatch.Fail(failed(ctx, err))
	case answer.Err != nil:
		return dispatch.Fail(mmError(x.ClientCapabilities(), answer.Err))
	}
	return p.mmResult(x, answer.Result)
}

// mmErrand is the client's request as the workload gets it.
func (p *Proxy) mmErrand(x *dispatch.Exchange, conv upstream.Conversation) (*errand, *jsonrpc.Error) {
	params := x.Msg.Params
	token := x.ProgressToken()
	edits := append(untold(x.Msg.Meta, token != nil), nullArguments(x.Msg.Method, params)...)
	if state, sealed := stateOf(x); sealed {
		inner, ok := p.unwrap(x, state)
		if !ok {
			return nil, badState()
		}
		edits = append(edits, strictjson.Set(inner, "requestState"))
	}
	if aboutTasks(x) {
		about, refused := p.mmAbout(x, conv)
		if refused != nil {
			return nil, refused
		}
		edits = append(edits, about...)
	}
	if d := conv.Discovered(); d.Revision != x.Revision() {
		edits = append(edits, strictjson.Set(strictjson.Quote(nil, d.Revision), "_meta", mcp.MetaProtocolVersion)) // B5.2
	}
	if edits != nil {
		var err error
		if params, err = strictjson.Splice(params, edits...); err != nil {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params must be an object")
		}
	}
	return &errand{
		p:         p,
		conv:      conv,
		principal: x.Principal(),
		envelope:  func() []byte { return bareEnvelope(x.Msg.Meta) },
		fields:    x.Fields(),
		request: peer.Request{
			Method: x.Msg.Method,
			Params: params,
			Token:  token,
			Value:  &mmCall{p: p, x: x},
		},
	}, nil
}

// untold removes from a client's _meta what a modern workload is not told: the
// key that died with legacy tasks (B5.4), and a progress token that none of
// ours stands for. Workloads spell 1e2 as 100, which may be somebody else's
// (B3.6).
func untold(meta []byte, token bool) (edits []strictjson.Edit) {
	drop := func(name string) {
		if !bytes.Contains(meta, []byte(name)) {
			return // the usual case, without a scan
		}
		if _, ok := strictjson.Get(meta, name); ok {
			edits = append(edits, strictjson.Delete("_meta", name))
		}
	}
	drop(mcp.MetaModelImmediateResponse)
	if !token {
		drop(mcp.MetaProgressToken)
	}
	return edits
}

// bareEnvelope is a client's _meta as our own requests for it carry it: without
// what belongs to the one request.
func bareEnvelope(meta []byte) []byte {
	if meta == nil {
		return nil
	}
	out, err := strictjson.Splice(meta, strictjson.Delete(mcp.MetaProgressToken), strictjson.Delete(mcp.MetaLogLevel))
	if err != nil {
		return nil
	}
	return out
}

// mmCall is the Handler of what belongs to a call.
type mmCall struct {
	p *Proxy
	x *dispatch.Exchange
}

// Request implements peer.Handler. A modern workload asks in its answers only.
func (c *mmCall) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")
}

// Notification implements peer.Handler: what the workload sends on the
// request's stream goes to the client's, logs as far as they were asked for
// (W23.5, W23.7), changes only to those who listen (W33.1).
func (c *mmCall) Notification(in peer.Incoming) {
	switch {
	case in.Msg.Method == mcp.NotifyMessage && !wants(c.x.LogLevel(), in.Msg):
		c.p.lossy(LossyLog)
		return
	case unsolicited(in.Msg.Method), in.Msg.Method == mcp.NotifyAcknowledged, in.Msg.Method == mcp.NotifyTasks:
		c.p.lossy(LossyNotification)
		return
	}
	raw := unforged(in.Msg)
	if raw == nil || tell(c.x, raw, in.MayWait) != nil {
		c.p.lossy(LossyNotification)
	}
}
