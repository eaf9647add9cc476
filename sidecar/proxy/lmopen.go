package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// lmOpen answers initialize in the workload's place, from what it said to
// server/discover (B4.6). The workload hears nothing of the session.
func (p *Proxy) lmOpen(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	conv, err := p.cfg.Workload.Conversation(ctx)
	if err != nil {
		return dispatch.Fail(notOpened(ctx, err))
	}
	profile := x.Profile()
	if negotiated, ok := mcp.Lookup(s.Revision()); ok {
		profile = negotiated
	}
	state := &lmSession{
		p:            p,
		s:            s,
		conv:         conv,
		profile:      profile,
		capabilities: modernClient(profile, s.ClientCapabilities()),
		tasks:        p.cfg.Tasks != nil && mcp.DeclaresExtension(conv.Discovered().Capabilities, mcp.ExtensionTasks),
	}
	if state.tasks {
		state.capabilities = declaringTasks(state.capabilities)
	}
	if info, ok := strictjson.Get(x.Msg.Params, "clientInfo"); ok && strictjson.IsObject(info) {
		state.info = append([]byte(nil), info...)
	}
	s.SetValue(state)
	p.hubs.join(p, state)
	return dispatch.Result(p.lmInitialized(state, conv.Discovered()))
}

// lmInitialized is the InitializeResult (B4.6, B4.7).
func (p *Proxy) lmInitialized(s *lmSession, d *upstream.Discovered) []byte {
	b := strictjson.Quote([]byte(`{"protocolVersion":`), s.s.Revision())
	b = append(append(b, `,"capabilities":`...), lmCapabilities(s.profile, d.Capabilities, p.taskCapability(s.s.Revision(), s.s.Principal()))...)
	info := d.ServerInfo
	if info == nil {
		info = p.ownInfo()
	}
	b = append(append(b, `,"serverInfo":`...), info...)
	if d.Instructions != nil {
		b = append(append(b, `,"instructions":`...), d.Instructions...)
	}
	return append(b, '}')
}

// lmCapabilities are the workload's as a legacy client may see them, with the
// tasks that we offer, nil for none (B12.1).
func lmCapabilities(profile mcp.Profile, raw, tasks []byte) []byte {
	edits := []strictjson.Edit{
		strictjson.Delete(string(mcp.CapTasks)),
		strictjson.Delete("extensions", mcp.ExtensionTasks),
	}
	if tasks != nil && mcp.CapTools.Declared(raw) {
		edits[0] = strictjson.Set(tasks, string(mcp.CapTasks))
	}
	if m, ok := profile.Method(mcp.MethodComplete); ok && m.Needs == "" {
		edits = append(edits, strictjson.Delete(string(mcp.CapCompletions))) // unknown there
	}
	return pruned(raw, edits)
}

// modernClient are a legacy client's capabilities in the workload's revision
// (B4.9).
func modernClient(profile mcp.Profile, raw []byte) []byte {
	edits := []strictjson.Edit{
		strictjson.Delete(string(mcp.CapTasks)),
		strictjson.Delete("extensions", mcp.ExtensionTasks),
	}
	if mcp.CapRoots.Declared(raw) {
		edits = append(edits, strictjson.Set([]byte("{}"), string(mcp.CapRoots)))
	}
	_, elicits := profile.Reverse(mcp.MethodElicit)
	declared, _ := strictjson.Get(raw, string(mcp.CapElicitation))
	_, form := strictjson.Get(declared, "form")
	_, url := strictjson.Get(declared, "url")
	switch {
	case broken.Rule("B4.9"):
	case !elicits || !strictjson.IsObject(declared):
		edits = append(edits, strictjson.Delete(string(mcp.CapElicitation)))
	case !profile.ElicitationModes || !form && !url:
		edits = append(edits, strictjson.Set([]byte(`{"form":{}}`), string(mcp.CapElicitation)))
	}
	return pruned(raw, edits)
}

// pruned makes edits on an object of capabilities. A null declares nothing and
// is not legal there (R4).
func pruned(raw []byte, edits []strictjson.Edit) []byte {
	strictjson.Each(raw, func(name, value []byte) bool {
		if !strictjson.IsNull(value) {
			return true
		}
		kept := edits[:0:0]
		for _, e := range edits {
			if e.Path[0] != string(name) {
				kept = append(kept, e)
			}
		}
		edits = append(kept, strictjson.Delete(string(name)))
		return true
	})
	out, err := strictjson.Splice(raw, edits...)
	if err != nil {
		return []byte("{}")
	}
	return out
}
