package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// llOpen is the client's own handshake with a leg of its own (B3.1, B4.11).
func (p *Proxy) llOpen(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	said := x.Msg.Params
	if said == nil { // a client that says nothing gets a session all the same (W4.3)
		said = upstream.InitializeParams(upstream.Key{})
	}
	params, err := strictjson.Splice(said, initEdits(said, s)...)
	if err != nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "initialize needs params"))
	}
	state := &session{p: p, s: s}
	leg, err := p.cfg.Workload.OpenSession(ctx, upstream.SessionRequest{
		Principal: x.Principal(),
		Params:    params,
		Handler:   state,
		Listening: s.Listening,
		// What has been answered is delivered: the answer wins over the end.
		Ended: func(cause error) { s.Retire(ended(cause)) },
	})
	if err != nil {
		if rpc, ok := upstream.RPC(err); ok {
			return dispatch.Fail(rpc) // the workload's own refusal
		}
		return dispatch.Fail(failed(ctx, err))
	}
	state.on(leg)
	in := leg.Init()
	if w, ok := mcp.Lookup(in.Revision); ok {
		state.speaks.Store(&w)
	}
	s.SetValue(state)
	p.mayLinger(in.Capabilities)
	return p.result(x.Profile(), mcp.MethodInitialize, in.Raw, append(p.initResultEdits(x, s, in), p.identify(in)...)...)
}

// initEdits are what the workload is not told: tasks, which are not served
// (B4.12), and a revision other than the session's.
func initEdits(params []byte, s dispatch.Session) []strictjson.Edit {
	edits := []strictjson.Edit{strictjson.Delete("capabilities", "tasks")}
	want := strictjson.Quote(nil, s.Revision())
	if have, _ := strictjson.Get(params, "protocolVersion"); string(have) != string(want) {
		edits = append(edits, strictjson.Set(want, "protocolVersion"))
	}
	return edits
}

// initResultEdits hides what is not served, and offers tasks where we run them
// (B12.1).
func (p *Proxy) initResultEdits(x *dispatch.Exchange, s dispatch.Session, in *peer.Init) (edits []strictjson.Edit) {
	offer := p.taskCapability(s.Revision(), x.Principal())
	if raw, ok := strictjson.Get(in.Raw, "capabilities"); !ok || !strictjson.IsObject(raw) {
		return []strictjson.Edit{strictjson.Set([]byte("{}"), "capabilities")}
	}
	_, has := strictjson.Get(in.Capabilities, string(mcp.CapTasks))
	switch {
	case offer != nil && mcp.CapTools.Declared(in.Capabilities):
		return []strictjson.Edit{strictjson.Set(offer, "capabilities", string(mcp.CapTasks))}
	case has:
		edits = append(edits, strictjson.Delete("capabilities", string(mcp.CapTasks)))
	}
	return edits
}

// identify adds a serverInfo where the workload gives none (W4.5).
func (p *Proxy) identify(in *peer.Init) []strictjson.Edit {
	if in.ServerInfo != nil {
		return nil
	}
	return []strictjson.Edit{strictjson.Set(p.serverInfo(in), "serverInfo")}
}

// serverInfo is the workload's identity, or the configured one.
func (p *Proxy) serverInfo(in *peer.Init) []byte {
	if in.ServerInfo != nil {
		return in.ServerInfo
	}
	return p.ownInfo()
}

// ownInfo is the configured identity.
func (p *Proxy) ownInfo() []byte {
	b := strictjson.Quote([]byte(`{"name":`), p.cfg.Name)
	b = strictjson.Quote(append(b, `,"version":`...), p.cfg.Version)
	return append(b, '}')
}

// llNotify passes a notification on: to a leg of its own everything goes
// (section 13), progress of the workload's requests under its own token
// (B9.2), but what speaks of tasks.
func (p *Proxy) llNotify(ctx context.Context, state *session, n *jsonrpc.Message) {
	if n.Method == mcp.NotifyTaskStatus {
		return
	}
	params := n.Params
	if w := state.speaks.Load(); n.Method == mcp.NotifyProgress && w != nil && !w.ProgressMessage {
		bare, err := strictjson.Splice(params, strictjson.Delete("message")) // B11.4
		if err != nil {
			return // it names no request
		}
		params = bare
	}
	if state.leg.Notify(ctx, n.Method, params) != nil {
		p.lossy(LossyNotification)
	}
}
