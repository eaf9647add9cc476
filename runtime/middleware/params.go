package middleware

import (
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// textParam is a string member of params; empty when there is none.
func textParam(m *Message, name string) string {
	raw, _ := strictjson.Get(m.Params, name)
	text, _ := strictjson.String(raw)
	return text
}

// calledTool is the tool that a request calls; ok is false for everything else.
func calledTool(m *Message) (tool string, ok bool) {
	if m.Kind != jsonrpc.KindRequest || m.Method != mcp.MethodToolsCall {
		return "", false
	}
	return textParam(m, "name"), true
}

// label is the method as a closed set of names.
func label(method string) string {
	if mcp.KnownMethod(method) {
		return method
	}
	return "_OTHER"
}
