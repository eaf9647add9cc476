package mcp

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Keys of _meta (W6).
const (
	MetaProtocolVersion        = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo             = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities     = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel               = "io.modelcontextprotocol/logLevel"
	MetaServerInfo             = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID         = "io.modelcontextprotocol/subscriptionId"
	MetaRelatedTask            = "io.modelcontextprotocol/related-task"
	MetaModelImmediateResponse = "io.modelcontextprotocol/model-immediate-response"
	MetaProgressToken          = "progressToken"
	MetaTraceparent            = "traceparent"
	MetaTracestate             = "tracestate"
	MetaBaggage                = "baggage"
)

// VendorPrefix is ours (P14). Keys under it never cross from a client or from
// a workload.
const VendorPrefix = "dev.fairlead/"

// MetaInputKey is where a server's request names the key under which a bridge
// asks clients of 2026-07-28 for it (B7.2, P21).
const MetaInputKey = VendorPrefix + "inputKey"

// MetaNeeds is where a tool of a legacy server lists the client capabilities
// that a call of it cannot do without, so that a bridge refuses clients of
// 2026-07-28 who lack one before the call begins (B7.15). "tasks" stands for
// the extension (W36.4).
const MetaNeeds = VendorPrefix + "needs"

// MetaAsksFirst is where a tool of a legacy server that runs as a task says
// true if it asks its questions before the long work begins, so that a bridge
// asks clients of 2026-07-28 in rounds first and answers the last of them with
// the task (W36.9).
const MetaAsksFirst = VendorPrefix + "asksFirst"

// ForgedFromClient reports whether a _meta key means something only when we
// set it, so that a client's own is removed before anything reads it (P14).
func ForgedFromClient(key string) bool {
	return forged([]byte(key))
}

// forged is ForgedFromClient for a key that is not worth a string yet.
func forged(key []byte) bool {
	switch string(key) {
	case MetaSubscriptionID, MetaRelatedTask, MetaServerInfo:
		return true
	}
	return bytes.HasPrefix(key, []byte(VendorPrefix))
}

// StripClientMeta removes those keys from params._meta of a raw message. The
// result is raw itself when there is nothing to remove.
func StripClientMeta(raw, meta []byte) ([]byte, error) {
	if meta == nil || broken.Rule("P14") {
		return raw, nil
	}
	var edits []strictjson.Edit
	strictjson.Each(meta, func(key, _ []byte) bool {
		if forged(key) {
			edits = append(edits, strictjson.Delete("params", "_meta", string(key)))
		}
		return true
	})
	if edits == nil {
		return raw, nil
	}
	return strictjson.Splice(raw, edits...)
}

// LogLevel reports whether text is a log level (W23.10).
func LogLevel(text string) bool { return LogSeverity(text) > 0 }

// LogSeverity orders log levels, 1 for debug to 8 for emergency; 0 for
// anything else.
func LogSeverity(text string) int {
	for i, name := range [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		if name == text {
			return i + 1
		}
	}
	return 0
}
