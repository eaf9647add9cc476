package proxy

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
)

// Kinds of results (W3.1).
const (
	kindComplete = "complete"
	kindInput    = "input_required"
	kindTask     = "task"
)

// mmResult gives a modern workload's result to a client of its era. What no
// rule names stays as it came.
func (p *Proxy) mmResult(x *dispatch.Exchange, raw []byte) dispatch.Outcome {
	kind, ok := kindOf(raw)
	if !ok {
		return badResponse()
	}
	m, _ := x.Profile().Method(x.Msg.Method)
	edits := forgedKeys(raw)
	switch kind {
	case kindComplete:
		edits = append(append(edits, completed(raw)...), mmShown(x, raw)...)
		edits = append(edits, p.mended(x.Msg.Method, raw, repair.Options{AnySchemaRoot: true})...)
		if m.Cached {
			_, resumed := stateOf(x)
			edits = append(edits, hints(raw, (resumed || answered(x)) && !broken.Rule("B7.20"))...)
		}
	case kindInput:
		more, refused := p.mmInput(x, m, raw)
		if refused != nil {
			return dispatch.Fail(refused)
		}
		edits = append(edits, more...)
	case kindTask:
		more, refused := p.mmCreated(x, raw)
		if refused != nil {
			return dispatch.Fail(refused)
		}
		edits = append(edits, more...)
	default:
		return unknownKind()
	}
	if x.Msg.Method == mcp.MethodToolsList {
		p.listed(x, raw)
	}
	if len(edits) == 0 {
		return dispatch.Result(raw)
	}
	out, err := strictjson.Splice(raw, edits...)
	if err != nil {
		return badResponse()
	}
	return dispatch.Result(out)
}

// listed takes note of the tools on a page.
func (p *Proxy) listed(x *dispatch.Exchange, raw []byte) {
	p.tools.learn(x.Principal(), raw)
	if p.cfg.Hooks.Tools != nil {
		cursor, later := strictjson.Get(x.Msg.Params, "cursor")
		p.cfg.Hooks.Tools(toolNames(raw), !later || strictjson.IsNull(cursor))
	}
}

func badResponse() dispatch.Outcome {
	return dispatch.Fail(internal("bad response from workload", reasonResponse))
}

func unknownKind() dispatch.Outcome { // section 17
	return dispatch.Fail(internal("unsupported result type from workload", reasonResponse))
}

// kindOf is the result's kind; a result that names none is complete (B1.6).
func kindOf(raw []byte) (kind string, ok bool) {
	if !strictjson.IsObject(raw) {
		return "", false
	}
	value, has := strictjson.Get(raw, "resultType")
	if !has {
		return kindComplete, true
	}
	kind, _ = strictjson.String(value)
	return kind, true
}

func completed(raw []byte) []strictjson.Edit {
	if _, has := strictjson.Get(raw, "resultType"); has {
		return nil
	}
	return []strictjson.Edit{strictjson.Set([]byte(`"complete"`), "resultType")}
}

// forgedKeys removes our own keys from a result's _meta (P14).
func forgedKeys(raw []byte) (edits []strictjson.Edit) {
	if !bytes.Contains(raw, []byte(mcp.VendorPrefix)) {
		return nil
	}
	meta, _ := strictjson.Get(raw, "_meta")
	strictjson.Each(meta, func(key, _ []byte) bool {
		if strings.HasPrefix(string(key), mcp.VendorPrefix) {
			edits = append(edits, strictjson.Delete("_meta", string(key)))
		}
		return true
	})
	return edits
}

// hints makes the caching hints legal: what is missing or makes no sense means
// not to keep it, and so does an answer that somebody was asked for (B11.13,
// W32.16).
func hints(raw []byte, never bool) (edits []strictjson.Edit) {
	ttl, _ := strictjson.Get(raw, "ttlMs")
	scope, _ := strictjson.Get(raw, "cacheScope")
	if ms, err := strconv.ParseInt(string(ttl), 10, 64); err != nil || ms < 0 || never && ms > 0 {
		edits = append(edits, strictjson.Set([]byte("0"), "ttlMs"))
	}
	if s := string(scope); s != `"private"` && (s != `"public"` || never) {
		edits = append(edits, strictjson.Set([]byte(`"private"`), "cacheScope"))
	}
	return edits
}

// answered reports whether a request carries answers.
func answered(x *dispatch.Exchange) bool {
	if !bytes.Contains(x.Msg.Params, []byte(`inputResponses`)) {
		return false
	}
	raw, ok := strictjson.Get(x.Msg.Params, "inputResponses")
	return ok && !strictjson.IsNull(raw)
}

// mmInput seals the state of an answer that asks for input (B9.1). Questions
// stay as they are; one that the client did not declare to answer is the
// workload's fault, and told like a capability that is missing (W32.6).
func (p *Proxy) mmInput(x *dispatch.Exchange, m mcp.Method, raw []byte) ([]strictjson.Edit, *jsonrpc.Error) {
	questions, asks := strictjson.Get(raw, "inputRequests")
	state, has := strictjson.Get(raw, "requestState")
	has = has && !strictjson.IsNull(state)
	if !m.InputRequired || !asks && !has || asks && !strictjson.IsObject(questions) {
		return nil, badResponse().Err // W32.3, W32.4
	}
	var refused *jsonrpc.Error
	strictjson.Each(questions, func(_, question []byte) bool {
		if need := undeclared(x.ClientCapabilities(), question); need != nil {
			p.lossy(LossyReverse)
			refused = &jsonrpc.Error{
				Code:    mcp.CodeMissingCapability,
				Message: "the workload asks for what the client did not declare",
				Data:    append(append([]byte(`{"requiredCapabilities":`), need...), '}'),
			}
		}
		return refused == nil
	})
	if refused != nil || !has || broken.Rule("B9.1") {
		return nil, refused
	}
	sealed, err := p.wrap(x, state)
	if err != nil {
		return nil, internal("the workload's state cannot be carried", mcp.ReasonOverflow)
	}
	return []strictjson.Edit{strictjson.Set(sealed, "requestState")}, nil
}

// undeclared is the capability that a client would need to be asked a question
// of inputRequests, and did not declare; nil if it may be asked.
func undeclared(capabilities, question []byte) (need []byte) {
	raw, _ := strictjson.Get(question, "method")
	method, _ := strictjson.String(raw)
	params, _ := strictjson.Get(question, "params")
	switch method {
	case mcp.MethodRootsList:
		if !mcp.CapRoots.Declared(capabilities) {
			return []byte(`{"roots":{}}`)
		}
	case mcp.MethodCreateMessage:
		if !mcp.CapSampling.Declared(capabilities) {
			return []byte(`{"sampling":{}}`)
		}
		if _, tools := strictjson.Get(params, "tools"); tools && !mcp.Capability("sampling.tools").Declared(capabilities) {
			return []byte(`{"sampling":{"tools":{}}}`)
		}
	case mcp.MethodElicit:
		raw, _ := strictjson.Get(params, "mode")
		mode, _ := strictjson.String(raw)
		if !mcp.CapElicitation.Declared(capabilities) || !mcp.ElicitationMode(capabilities, mode) {
			if mode != "url" {
				mode = "form"
			}
			return []byte(`{"elicitation":{"` + mode + `":{}}}`)
		}
	default:
		return []byte(`{}`)
	}
	return nil
}
