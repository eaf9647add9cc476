package proxy

import (
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
)

// asksForMore lists what a workload may ask a client for.
func asksForMore(method string) bool {
	switch method {
	case mcp.MethodElicit, mcp.MethodCreateMessage, mcp.MethodRootsList:
		return true
	}
	return false
}

// mlNeeds are the capabilities that a client must have declared to be asked so
// (W32.6).
func mlNeeds(method string, params []byte) []mcp.Capability {
	switch method {
	case mcp.MethodElicit:
		return []mcp.Capability{mcp.CapElicitation + "." + mcp.Capability(modeOf(params))}
	case mcp.MethodRootsList:
		return []mcp.Capability{mcp.CapRoots}
	case mcp.MethodCreateMessage:
		for _, member := range []string{"tools", "toolChoice"} {
			if v, ok := strictjson.Get(params, member); ok && !strictjson.IsNull(v) {
				return []mcp.Capability{mcp.CapSampling, mcp.CapSampling + ".tools"}
			}
		}
		return []mcp.Capability{mcp.CapSampling}
	}
	return nil
}

func modeOf(params []byte) string {
	raw, _ := strictjson.Get(params, "mode")
	if mode, _ := strictjson.String(raw); mode != "" {
		return mode
	}
	return "form"
}

// mlMissing is the first capability that a question needs and a client has not
// declared; empty if there is none.
func mlMissing(declared []byte, method string, params []byte) mcp.Capability {
	for _, c := range mlNeeds(method, params) {
		has := c.Declared(declared)
		if method == mcp.MethodElicit {
			has = mcp.ElicitationMode(declared, modeOf(params))
		}
		if !has {
			return c
		}
	}
	return ""
}

// mlUndeclared says why a leg's own capabilities do not allow a request (B6.2).
func mlUndeclared(declared []byte, m *jsonrpc.Message) *jsonrpc.Error {
	lost := mlMissing(declared, m.Method, m.Params)
	switch {
	case !asksForMore(m.Method):
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client has no such request").WithReason(mcp.ReasonNotInRevision) // section 17
	case lost == "":
		return nil
	case m.Method == mcp.MethodElicit && mcp.CapElicitation.Declared(declared):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the client did not declare this elicitation mode").WithReason(mcp.ReasonNoCapability) // W30.15
	}
	return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client did not declare %s", lost).WithReason(mcp.ReasonNoCapability)
}

// mayAsk holds questions against what a request's client declared (B7.2,
// B7.9, B7.15).
func mayAsk(declared []byte) park.May {
	return func(method string, params []byte) *jsonrpc.Error {
		if lost := mlMissing(declared, method, params); lost != "" {
			return lacking(lost)
		}
		return nil
	}
}

// lacking is the error -32021 that names what is missing (W5.10).
func lacking(c mcp.Capability) *jsonrpc.Error {
	object, _ := strictjson.Splice([]byte(`{}`), strictjson.Set([]byte(`{}`), c.Path()...))
	if broken.Rule("B7.15") {
		object = []byte(`{}`)
	}
	return &jsonrpc.Error{
		Code:    mcp.CodeMissingCapability,
		Message: "the workload needs what the client did not declare",
		Data:    append(append([]byte(`{"requiredCapabilities":`), object...), '}'),
	}
}

// mlQuestion is a request of the workload as a client of 2026-07-28 is asked
// (B7.2, B14.5).
func mlQuestion(m *jsonrpc.Message, declared []byte) park.Question {
	q := park.Question{Method: m.Method, Params: m.Params}
	if raw, ok := strictjson.Get(m.Meta, mcp.MetaInputKey); ok {
		q.Hint, _ = strictjson.String(raw)
	}
	if m.Params == nil {
		return q
	}
	edits := []strictjson.Edit{strictjson.Delete("task")}
	switch m.Method {
	case mcp.MethodElicit:
		edits = append(edits, strictjson.Delete("elicitationId"))
		if raw, ok := strictjson.Get(m.Params, "mode"); !ok || strictjson.IsNull(raw) {
			edits = append(edits, strictjson.Set([]byte(`"form"`), "mode"))
		}
	case mcp.MethodCreateMessage:
		// B14.6
		if raw, ok := strictjson.Get(m.Params, "includeContext"); ok && string(raw) != `"none"` && !(mcp.CapSampling + ".context").Declared(declared) {
			edits = append(edits, strictjson.Delete("includeContext"))
		}
	}
	edits = append(edits, ownMeta(m.Meta)...)
	if out, err := strictjson.Splice(m.Params, edits...); err == nil {
		q.Params = out
	}
	return q
}

// ownMeta removes from _meta what belongs to the workload's leg.
func ownMeta(meta []byte) (edits []strictjson.Edit) {
	left := 0
	strictjson.Each(meta, func(key, _ []byte) bool {
		name := string(key)
		switch {
		case name == mcp.MetaProgressToken, name == mcp.MetaRelatedTask, strings.HasPrefix(name, mcp.VendorPrefix):
			edits = append(edits, strictjson.Delete("_meta", name))
		default:
			left++
		}
		return true
	})
	if meta != nil && left == 0 {
		return []strictjson.Edit{strictjson.Delete("_meta")}
	}
	return edits
}
