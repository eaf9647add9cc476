package proxy

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/older"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
)

// lmResult gives a complete result of a modern workload to a legacy client:
// without what its era does not have (B5.6), in words that its revision has
// (B14).
func (p *Proxy) lmResult(ctx context.Context, x *dispatch.Exchange, s *lmSession, e *errand, raw []byte) dispatch.Outcome {
	wrapped := false
	switch e.request.Method {
	case mcp.MethodToolsList:
		p.listed(x, raw)
	case mcp.MethodToolsCall:
		wrapped = p.lmWrapped(ctx, s, e, raw)
	}
	out, ok := edited(raw, p.mended(e.request.Method, raw, repair.Options{AnySchemaRoot: true}))
	if ok {
		out, ok = edited(out, append(lmStrip(e.request.Method, out), older.Result(s.profile, e.request.Method, out, wrapped)...))
	}
	if !ok {
		return badResponse()
	}
	if e.request.Method == mcp.MethodToolsList && p.offersTasks(s.profile) {
		out = taskTools(out)
	}
	return dispatch.Result(out)
}

// lmWrapped reports whether the called tool's output was listed as wrapped
// (B14.3). Nobody has to have asked for the list: then it is asked for here.
func (p *Proxy) lmWrapped(ctx context.Context, s *lmSession, e *errand, raw []byte) bool {
	structured, ok := strictjson.Get(raw, "structuredContent")
	if !ok || !s.profile.StructuredOutput || s.profile.AnyOutput || !strictjson.IsObject(structured) {
		return false
	}
	text, _ := strictjson.Get(e.request.Params, "name")
	name, _ := strictjson.String(text)
	return e.tool(ctx, name, false).wrapped
}

// lmStrip removes what only the modern era has (B5.6), and our own keys (P14).
func lmStrip(method string, raw []byte) (edits []strictjson.Edit) {
	drop := []string{"resultType"}
	if modern, ok := mcp.Lookup(mcp.Modern()[0]); ok {
		if m, known := modern.Method(method); known && m.Cached {
			drop = append(drop, "ttlMs", "cacheScope")
		}
	}
	if broken.Rule("B5.6") {
		return nil
	}
	for _, name := range drop {
		if _, has := strictjson.Get(raw, name); has {
			edits = append(edits, strictjson.Delete(name))
		}
	}
	meta, ok := strictjson.Get(raw, "_meta")
	if !ok {
		return edits
	}
	var keys []strictjson.Edit
	kept := false
	strictjson.Each(meta, func(key, _ []byte) bool {
		name := string(key)
		if name == mcp.MetaServerInfo || name == mcp.MetaSubscriptionID || strings.HasPrefix(name, mcp.VendorPrefix) {
			keys = append(keys, strictjson.Delete("_meta", name))
		} else {
			kept = true
		}
		return true
	})
	if keys != nil && !kept {
		return append(edits, strictjson.Delete("_meta"))
	}
	return append(edits, keys...)
}

// lmFailed gives a modern workload's error to a legacy client (B16).
func (p *Proxy) lmFailed(x *dispatch.Exchange, e *jsonrpc.Error) dispatch.Outcome {
	if e.Code == mcp.CodeMissingCapability && x.Msg.Method == mcp.MethodToolsCall {
		return toolFailed("the tool needs something that this client does not have: " + needs(e))
	}
	return dispatch.Fail(lmError(x.Msg.Method, x.Msg.Params, e))
}

// toolFailed is a tool result that says why there is no other (B8.5, B16.2).
func toolFailed(why string) dispatch.Outcome {
	b := strictjson.Quote([]byte(`{"content":[{"type":"text","text":`), why)
	return dispatch.Result(append(b, `}],"isError":true}`...))
}
