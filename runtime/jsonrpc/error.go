package jsonrpc

// Error is a JSON-RPC error object. Data is raw JSON or nil. Raw, when set, is
// the peer's own error object and is what gets forwarded, so that unknown
// members survive.
type Error struct {
	Code    int64
	Message string
	Data    []byte
	Raw     []byte
}

// Error implements error.
func (e *Error) Error() string { return e.Message }
