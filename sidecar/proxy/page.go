package proxy

import (
	"bytes"
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// page finishes one page of a list.
func (p *Proxy) page(ctx context.Context, x *dispatch.Exchange, leg upstream.Leg, r peer.Request, raw []byte, extra ...strictjson.Edit) dispatch.Outcome {
	if p.endless(ctx, leg, r, raw) {
		p.lossy(LossyCursor)
		extra = append(extra, strictjson.Delete("nextCursor")) // an empty one is not sealed
	}
	if r.Method == mcp.MethodToolsList {
		p.tools.learn(x.Principal(), raw)
	}
	o := p.result(x.Profile(), r.Method, raw, extra...)
	if r.Method == mcp.MethodToolsList && o.Result != nil && p.cfg.Hooks.Tools != nil {
		_, later := strictjson.Get(r.Params, "cursor")
		p.cfg.Hooks.Tools(toolNames(o.Result), !later)
	}
	return o
}

// endless reports whether a page names an empty cursor that leads to itself
// (C23, R2): some workloads say "that was all" that way. One that leads
// somewhere is a cursor like any other (W22.1).
func (p *Proxy) endless(ctx context.Context, leg upstream.Leg, r peer.Request, raw []byte) bool {
	if !emptyCursor(raw, "nextCursor") || broken.Rule("R2") {
		return false
	}
	if emptyCursor(r.Params, "cursor") {
		return true
	}
	next := peer.Request{Method: r.Method, Params: []byte(`{"cursor":""}`)}
	answer, err := p.call(ctx, leg, next)
	if err != nil || answer.Err != nil {
		return true // a cursor that is refused leads nowhere
	}
	return emptyCursor(answer.Result, "nextCursor") || bytes.Equal(answer.Result, raw)
}

func emptyCursor(object []byte, name string) bool {
	cursor, _ := strictjson.Get(object, name)
	return string(cursor) == `""`
}

// maxNames bounds the names that are reported of one page.
const maxNames = 1000

func toolNames(result []byte) (names []string) {
	tools, _ := strictjson.Get(result, "tools")
	strictjson.Elements(tools, func(tool []byte) bool {
		raw, _ := strictjson.Get(tool, "name")
		if name, ok := strictjson.String(raw); ok {
			names = append(names, name)
		}
		return len(names) < maxNames
	})
	return names
}
