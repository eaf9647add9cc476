package proxy

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// ml serves a request that carries its own metadata, on the leg of its key.
func (p *Proxy) ml(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	switch {
	case !p.mlOffered(ctx, x):
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	case x.Msg.Method == mcp.MethodDiscover:
		return p.mlDiscover(ctx, x)
	case x.Msg.Method == mcp.MethodListen:
		return p.mlListen(ctx, x)
	case aboutTasks(x):
		return p.mlTasks(ctx, x)
	}
	if level := x.LogLevel(); level != "" && !mcp.LogLevel(level) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown log level")) // W23.8
	}
	if x.Msg.Method == mcp.MethodToolsCall {
		raw, _ := strictjson.Get(x.Msg.Params, "name")
		name, _ := strictjson.String(raw)
		for _, c := range p.tools.needs(name) {
			if bad := p.mlLacks(x, c); bad != nil {
				return dispatch.Fail(bad) // B7.15
			}
		}
	}
	if p.mlMayAsk(x) {
		return p.mlAsk(ctx, x)
	}
	o, again := p.attempt(ctx, x)
	if again && ctx.Err() == nil {
		o, _ = p.attempt(ctx, x)
	}
	return o
}

// mlOffered reports whether a request is for something that is advertised.
func (p *Proxy) mlOffered(ctx context.Context, x *dispatch.Exchange) bool {
	m, _ := x.Profile().Method(x.Msg.Method)
	return m.Extension == "" || m.Extension == mcp.ExtensionTasks && p.mlTakesTasks(ctx, x)
}

// attempt makes the request once. again says that it may be made once more:
// the workload did not get it, or went down over something that only reads
// (B0.5, B3.8).
func (p *Proxy) attempt(ctx context.Context, x *dispatch.Exchange) (o dispatch.Outcome, again bool) {
	key := p.keyOf(x)
	key.Any = !isList(x.Msg.Method)
	lease, err := p.cfg.Workload.Instance(ctx, key)
	if err != nil {
		return dispatch.Fail(notOpened(ctx, err)), false
	}
	defer lease.Release()
	in := lease.Init()
	p.mayLinger(in.Capabilities)
	p.parking.inits.put(key.Capabilities, in)
	if refused := gate(x, in); refused != nil {
		return dispatch.Fail(refused), false
	}
	d := p.deskOf(ctx, lease, key)
	p.raise(ctx, x, lease)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	call := &modernCall{p: p, x: x, cancel: cancel}
	own := &flight{p: p, declared: x.ClientCapabilities()}
	r := request(x, call)
	r.GivenUp = d.ghost(own, lease)
	if isList(r.Method) {
		cursor, bad := p.cursorIn(d, x)
		if bad != nil {
			return dispatch.Fail(bad), false
		}
		r.Edits = append(r.Edits, cursor...)
	}
	if w, _ := mcp.Lookup(in.Revision); r.Method == mcp.MethodComplete && !w.CompletionContext {
		r.Edits = append(r.Edits, strictjson.Delete("context")) // B11.9
	}
	tool, known := p.toolOf(ctx, x, lease)
	answer, err := p.callTool(ctx, lease.Leg, r, augmented{known: known, asTask: p.asTask(x, tool)})
	if err != nil {
		d.forsake(own, lease, err)
	}
	if bad := call.lacked.Load(); bad != nil {
		return dispatch.Fail(bad), false
	}
	if err != nil {
		return dispatch.Fail(failed(ctx, err)), repeatable(r.Method, err)
	}
	if answer.Err != nil {
		if answer.Err.Code == mcp.CodeURLElicitation {
			return p.mlVisit(x, lease, nil, 0, answer.Err), false
		}
		return dispatch.Fail(toModern(r.Method, r.Params, answer.Err)), false
	}
	extra := p.modernEdits(x, p.serverInfo(in))
	if isList(r.Method) {
		return p.page(ctx, x, lease.Leg, r, answer.Result, append(extra, p.cursorOut(d, x, answer.Result)...)...), false
	}
	return p.result(x.Profile(), r.Method, answer.Result, extra...), false
}

// keyOf names the leg of a request: who asks, and what it declares (B3.2, P7).
func (p *Proxy) keyOf(x *dispatch.Exchange) upstream.Key {
	return upstream.Key{Principal: x.Principal(), Capabilities: fingerprint(x.ClientCapabilities(), p.cfg.Roots)}
}

// notOpened words why there is no leg. The workload's own refusal was not
// meant for this client, who never sent initialize.
func notOpened(ctx context.Context, err error) *jsonrpc.Error {
	if _, ok := upstream.RPC(err); ok {
		return internal("the workload could not be used", reasonFailed)
	}
	return failed(ctx, err)
}

// gate refuses what the workload did not advertise (B4.3, W5.6). Methods that
// no revision knows are the workload's business.
func gate(x *dispatch.Exchange, in *peer.Init) *jsonrpc.Error {
	m, known := x.Profile().Method(x.Msg.Method)
	switch {
	case known && m.Needs.Declared(in.Capabilities):
		return nil
	case !known && !mcp.KnownMethod(x.Msg.Method):
		return nil
	}
	return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")
}

func repeatable(method string, err error) bool {
	var f *peer.Failure
	if !errors.As(err, &f) {
		return false
	}
	if f.NotDelivered && f.Reason != peer.Busy {
		return true
	}
	return f.Reason == peer.Ended && (isList(method) || method == mcp.MethodResourcesRead)
}
