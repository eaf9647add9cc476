package proxy

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// schemaWait bounds how long a call waits for the list that may name its tool.
const schemaWait = 5 * time.Second

// ParamSchema is the inputSchema of a tool, if arguments of it are repeated in
// headers: the front holds clients to that, whatever the workload's era (B5.9,
// P25). For a name that nobody was shown the list is asked for, once in a
// while; what is not in it passes, and the workload decides.
func (p *Proxy) ParamSchema(tool string) ([]byte, bool) {
	schema, known := p.tools.schema(tool)
	if !known {
		ctx, stop := context.WithTimeout(context.Background(), schemaWait)
		defer stop()
		p.tools.refresh(ctx, "", false, p.listOwn)
		schema, _ = p.tools.schema(tool)
	}
	return schema, schema != nil
}

// listOwn reads the workload's tools as a client without a name that declares
// everything is shown them (P7).
func (p *Proxy) listOwn(ctx context.Context, page func([]byte)) bool {
	era, err := p.cfg.Workload.Era(ctx)
	if err != nil {
		return false
	}
	if !era.Modern() {
		lease, err := p.cfg.Workload.Instance(ctx, upstream.Key{Capabilities: WidestFingerprint(p.cfg.Roots)})
		if err != nil {
			return false
		}
		defer lease.Release()
		return !mcp.CapTools.Declared(lease.Init().Capabilities) || p.listTools(ctx, lease.Leg, nil, page)
	}
	conv, err := p.cfg.Workload.Conversation(ctx)
	if err != nil {
		return false
	}
	envelope, _ := strictjson.Get(upstream.DiscoverParams(conv.Discovered().Revision), "_meta")
	return p.listTools(ctx, conv, envelope, page)
}
