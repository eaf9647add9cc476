// Package jsonrpc holds JSON-RPC 2.0 messages as they travel: raw bytes with
// the few members that routing needs pointed out, never a decoded copy.
//
// It owns ids, message shapes and the error object. It knows nothing of MCP's
// methods, of transports, or of sessions.
package jsonrpc

// Kind says which of the three JSON-RPC message shapes a Message has.
type Kind uint8

// The message shapes. The zero value is no message at all.
const (
	KindInvalid Kind = iota
	KindRequest
	KindNotification
	KindResponse
)

// Message is one JSON-RPC message. The byte slices alias Raw and are
// read-only; they stay valid as long as the message does. A Message is safe
// for concurrent reading.
type Message struct {
	// Raw is the whole message as received, without surrounding whitespace.
	Raw []byte
	// Kind is decided from the members present (W1.1, W1.6).
	Kind Kind
	// ID is the id's own JSON text, type included (W1.5); zero for
	// notifications and for error responses without an id.
	ID ID
	// Method is the method name, decoded; empty for responses.
	Method string
	// Params is the raw value of params; nil when absent or null (R7).
	Params []byte
	// Meta is the raw object at params._meta (requests, notifications) or
	// result._meta (responses); nil when there is none.
	Meta []byte
	// Result and Err are the raw members of a response; exactly one is set.
	Result []byte
	Err    *Error
}
