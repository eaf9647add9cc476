package proxy

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
)

// request makes the workload's request of a client's: the client's params,
// less what belongs to the client's own leg.
func request(x *dispatch.Exchange, value any) peer.Request {
	r := peer.Request{Method: x.Msg.Method, Params: x.Msg.Params, Value: value}
	if x.Msg.Params == nil {
		return r
	}
	list := isList(r.Method)
	if !list {
		r.Token = x.ProgressToken()
	}
	edits, empty := metaEdits(x.Msg.Meta, x.Profile(), r.Token != nil)
	if empty && list && onlyMember(r.Params, "_meta") {
		// Some servers refuse params on lists (C24).
		r.Params = nil
		return r
	}
	r.Edits = append(edits, paramEdits(x.Profile(), r.Method, r.Params)...)
	return r
}

// isList reports the paginated lists of the protocol (W22.3).
func isList(method string) bool {
	switch method {
	case mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodTemplatesList:
		return true
	}
	return false
}

// metaEdits removes from _meta what does not travel: the envelope of a modern
// request (B5.1), and a progress token that is not passed on. empty says that
// nothing else was in it; it then goes as a whole.
func metaEdits(meta []byte, p mcp.Profile, token bool) (edits []strictjson.Edit, empty bool) {
	if meta == nil {
		return nil, false
	}
	kept := false
	strictjson.Each(meta, func(key, _ []byte) bool {
		if name := envelope(p, key, token); name != "" {
			edits = append(edits, strictjson.Delete("_meta", name))
		} else {
			kept = true
		}
		return true
	})
	if kept || edits == nil {
		return edits, false
	}
	return []strictjson.Edit{strictjson.Delete("_meta")}, true
}

// envelope is the name of a key that describes the request itself, or of a
// progress token that is not passed on; "" for any other.
func envelope(p mcp.Profile, key []byte, token bool) string {
	own := !p.Handshake && !broken.Rule("B5.1")
	for _, name := range [...]string{mcp.MetaProtocolVersion, mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaLogLevel, mcp.MetaSubscriptionID} {
		if own && string(key) == name {
			return name
		}
	}
	if string(key) == mcp.MetaProgressToken && !token {
		return mcp.MetaProgressToken
	}
	return ""
}

// paramEdits removes or mends single members of params.
func paramEdits(p mcp.Profile, method string, params []byte) (edits []strictjson.Edit) {
	drop := func(name string) {
		if !bytes.Contains(params, []byte(name)) {
			return // the usual case, without a scan
		}
		if _, ok := strictjson.Get(params, name); ok {
			edits = append(edits, strictjson.Delete(name))
		}
	}
	// Tasks are not advertised, so the member is ignored (W35.3, B4.12, W36.5).
	switch method {
	case mcp.MethodToolsCall:
		drop("task")
	}
	edits = append(edits, nullArguments(method, params)...)
	if !p.Handshake {
		drop("inputResponses") // B5.1
		drop("requestState")
	}
	return edits
}

// nullArguments mends arguments that are null, which means that there are none
// (R7); a tool gets an empty object, because its schema is one's (W24.6).
func nullArguments(method string, params []byte) []strictjson.Edit {
	if method != mcp.MethodToolsCall && method != mcp.MethodPromptsGet || !bytes.Contains(params, []byte("null")) {
		return nil
	}
	arguments, ok := strictjson.Get(params, "arguments")
	switch {
	case !ok || !strictjson.IsNull(arguments):
		return nil
	case method == mcp.MethodPromptsGet:
		return []strictjson.Edit{strictjson.Delete("arguments")}
	}
	return []strictjson.Edit{strictjson.Set([]byte("{}"), "arguments")}
}

// onlyMember reports whether an object has no other member.
func onlyMember(object []byte, name string) bool {
	only := true
	strictjson.Each(object, func(key, _ []byte) bool {
		only = string(key) == name
		return only
	})
	return only
}
