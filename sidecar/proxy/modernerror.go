package proxy

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Reasons of errors about a modern workload.
const (
	reasonHeaders  = "header_mismatch"
	reasonRevision = "unsupported_revision"
	reasonLacks    = "missing_capability"
)

// ours words the errors of a modern workload that were about the sidecar and
// not about the client (B16); nil for all others.
func ours(e *jsonrpc.Error) *jsonrpc.Error {
	switch e.Code {
	case mcp.CodeHeaderMismatch:
		return internal("the workload refused the request's headers", reasonHeaders)
	case mcp.CodeUnsupportedRevision:
		return internal("the workload refused the protocol revision", reasonRevision)
	}
	return nil
}

// mmError maps a modern workload's error for a client of its era (B16).
func mmError(capabilities []byte, e *jsonrpc.Error) *jsonrpc.Error {
	if own := ours(e); own != nil {
		return own
	}
	switch {
	case e.Code == mcp.CodeMissingCapability:
		if lacks(capabilities, e) {
			return e
		}
		return internal("the workload insists on what the client has declared", reasonLacks)
	case e.Code <= -32020 && e.Code >= -32099: // W2.4
		return retired(e)
	}
	return e
}

// lacks reports whether a client does not declare what -32021 asks for.
func lacks(capabilities []byte, e *jsonrpc.Error) bool {
	required, _ := strictjson.Get(e.Data, "requiredCapabilities")
	return missing(required, capabilities, 0)
}

// missing reports whether an object of required capabilities has a member that
// the declared ones do not have.
func missing(required, declared []byte, depth int) (found bool) {
	strictjson.Each(required, func(name, value []byte) bool {
		have, ok := strictjson.Get(declared, string(name))
		switch {
		case !ok || strictjson.IsNull(have):
			// An empty elicitation is the form mode (W30.1).
			found = depth == 0 || string(name) != "form" || len(bytes.Trim(declared, " {}\t\r\n")) > 0
		case strictjson.IsObject(value) && depth < 4:
			found = missing(value, have, depth+1)
		}
		return !found
	})
	return found
}

// lmError maps a modern workload's error for a legacy client (B16). What is
// left of -32021 after that is not the client's to understand.
func lmError(method string, params []byte, e *jsonrpc.Error) *jsonrpc.Error {
	if own := ours(e); own != nil {
		return own
	}
	switch e.Code {
	case mcp.CodeMissingCapability:
		return internal("the workload needs a capability that the client does not have", reasonLacks)
	case jsonrpc.CodeInvalidParams:
		asked, _ := strictjson.Get(params, "uri")
		named, ok := strictjson.Get(e.Data, "uri")
		if method == mcp.MethodResourcesRead && ok && sameText(asked, named) {
			return &jsonrpc.Error{Code: mcp.CodeResourceNotFound, Message: e.Message, Data: e.Data}
		}
	}
	return e
}

func sameText(a, b []byte) bool {
	x, isText := strictjson.String(a)
	y, also := strictjson.String(b)
	return isText && also && x == y
}

// needs names the capabilities that an error of -32021 asks for, for people.
func needs(e *jsonrpc.Error) string {
	required, _ := strictjson.Get(e.Data, "requiredCapabilities")
	var names []byte
	strictjson.Each(required, func(name, _ []byte) bool {
		if len(names) > 0 {
			names = append(names, ", "...)
		}
		names = append(names, name...)
		return len(names) < 200
	})
	if len(names) == 0 {
		return "a capability"
	}
	return string(names)
}
