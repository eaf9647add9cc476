package proxy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
)

// result gives a legacy workload's result to a client of revision profile,
// with extra edits on top of the repairs. Everything else stays as it came.
func (p *Proxy) result(profile mcp.Profile, method string, raw []byte, extra ...strictjson.Edit) dispatch.Outcome {
	if !strictjson.IsObject(raw) {
		return dispatch.Fail(internal("bad response from workload", reasonResponse))
	}
	edits := p.mended(method, raw, repair.Options{
		NoExecution:   !profile.Handshake,
		AnySchemaRoot: !profile.Handshake,
		TextToo:       !profile.StructuredOutput,
		Tasks:         method == mcp.MethodToolsList && p.offersTasks(profile),
	})
	edits = append(edits, forged(profile, raw)...)
	if len(extra) > 0 {
		edits = append(without(edits, extra), extra...)
	}
	out, ok := edited(raw, edits)
	if !ok {
		return badResponse()
	}
	return dispatch.Result(out)
}

// edited is an object with edits, and the very same one without any.
func edited(object []byte, edits []strictjson.Edit) (out []byte, ok bool) {
	if len(edits) == 0 {
		return object, true
	}
	out, err := strictjson.Splice(object, edits...)
	return out, err == nil
}

// mended are the repairs that a workload's result needs (R4, R8), counted.
func (p *Proxy) mended(method string, raw []byte, o repair.Options) []strictjson.Edit {
	edits, notes := repair.Edits(method, raw, o)
	for _, n := range notes {
		if p.cfg.Hooks.Repaired != nil {
			p.cfg.Hooks.Repaired(label(method), n.Kind, n.Item)
		}
	}
	return edits
}

// without leaves out the deletion of a member that extra puts something into: a
// null there counts as missing (P14).
func without(edits, extra []strictjson.Edit) []strictjson.Edit {
	return slices.DeleteFunc(edits, func(e strictjson.Edit) bool {
		return e.Value == nil && len(e.Path) == 1 && slices.ContainsFunc(extra, func(x strictjson.Edit) bool {
			return x.Path[0] == e.Path[0]
		})
	})
}

// forged removes keys from a result's _meta that only we may set (P14), and
// towards modern clients those of legacy tasks (B5.4).
func forged(profile mcp.Profile, raw []byte) (edits []strictjson.Edit) {
	if !bytes.Contains(raw, []byte(mcp.VendorPrefix)) && (profile.Handshake || !bytes.Contains(raw, []byte("io.modelcontextprotocol/"))) {
		return nil
	}
	meta, ok := strictjson.Get(raw, "_meta")
	if !ok {
		return nil
	}
	strictjson.Each(meta, func(key, _ []byte) bool {
		name := string(key)
		legacyTask := name == mcp.MetaRelatedTask || name == mcp.MetaModelImmediateResponse
		if strings.HasPrefix(name, mcp.VendorPrefix) || !profile.Handshake && (legacyTask || name == mcp.MetaSubscriptionID) {
			edits = append(edits, strictjson.Delete("_meta", name))
		}
		return true
	})
	return edits
}

// modernEdits are what a modern client's result has beyond a legacy one
// (B5.5).
func (p *Proxy) modernEdits(x *dispatch.Exchange, serverInfo []byte) []strictjson.Edit {
	edits := []strictjson.Edit{
		strictjson.Set([]byte(`"complete"`), "resultType"),
		strictjson.Set(serverInfo, "_meta", mcp.MetaServerInfo),
	}
	if broken.Rule("B5.5") {
		return nil
	}
	if m, ok := x.Profile().Method(x.Msg.Method); ok && m.Cached {
		// B11.13: the workload gave no hints.
		edits = append(edits, strictjson.Set([]byte("0"), "ttlMs"), strictjson.Set([]byte(`"private"`), "cacheScope"))
	}
	return edits
}
