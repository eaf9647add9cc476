package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// mlDiscover answers server/discover from the workload's InitializeResult
// (B4.1); the workload is never asked and, once known, need not even run.
func (p *Proxy) mlDiscover(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	key := p.keyOf(x)
	if in, ok := p.parking.inits.get(key.Capabilities); ok {
		return dispatch.Result(p.discovered(x, in))
	}
	lease, err := p.cfg.Workload.Instance(ctx, key)
	if err != nil {
		return dispatch.Fail(notOpened(ctx, err))
	}
	defer lease.Release()
	p.parking.inits.put(key.Capabilities, lease.Init())
	return dispatch.Result(p.discovered(x, lease.Init()))
}

// discovered builds the DiscoverResult (W5.5).
func (p *Proxy) discovered(x *dispatch.Exchange, in *peer.Init) []byte {
	b := []byte(`{"resultType":"complete","supportedVersions":[`)
	for i, revision := range x.Offer().Revisions() { // B4.4
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.Quote(b, revision)
	}
	b = append(b, `],"capabilities":`...)
	b = append(b, p.modernCapabilities(in.Capabilities)...)
	if in.Instructions != nil {
		b = append(append(b, `,"instructions":`...), in.Instructions...)
	}
	b = append(b, `,"ttlMs":0,"cacheScope":"private","_meta":{`...)
	b = strictjson.Quote(b, mcp.MetaServerInfo)
	b = append(append(b, ':'), p.serverInfo(in)...)
	return append(b, "}}"...)
}

// modernCapabilities are the workload's, less its tasks (B4.1); those that we
// make of its calls are an extension.
func (p *Proxy) modernCapabilities(raw []byte) []byte {
	edits := []strictjson.Edit{
		strictjson.Delete(string(mcp.CapTasks)),
		strictjson.Delete("extensions", mcp.ExtensionTasks),
	}
	if p.mlOffersTasks(raw) {
		edits[1] = strictjson.Set([]byte(`{}`), "extensions", mcp.ExtensionTasks)
	}
	strictjson.Each(raw, func(name, value []byte) bool {
		if n := string(name); strictjson.IsNull(value) && n != string(mcp.CapTasks) {
			// A null declares nothing, and is not legal there (R4).
			kept := edits[:0:0]
			for _, e := range edits {
				if e.Path[0] != n {
					kept = append(kept, e)
				}
			}
			edits = append(kept, strictjson.Delete(n))
		}
		return true
	})
	out, err := strictjson.Splice(raw, edits...)
	if err != nil {
		return []byte("{}")
	}
	return out
}
