package jsonrpc

import (
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// The codes that JSON-RPC itself defines (W2.1).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Error is a JSON-RPC error object. Data is raw JSON or nil. Raw, when set, is
// the peer's own error object and is what gets forwarded, so that unknown
// members survive. Cause is why, for whoever holds the Go value: it is never
// sent and never read from the wire.
type Error struct {
	Code    int64
	Message string
	Data    []byte
	Raw     []byte
	Cause   error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the Cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error without data.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithReason sets data to {"reason": reason}, the form of every error that we
// make ourselves beyond what the protocol words. It returns e.
func (e *Error) WithReason(reason string) *Error {
	e.Data = append(strictjson.Quote([]byte(`{"reason":`), reason), '}')
	return e
}

// Reason reads data.reason; empty when there is none.
func (e *Error) Reason() string {
	raw, _ := strictjson.Get(e.Data, "reason")
	text, _ := strictjson.String(raw)
	return text
}

// ParseError tells why bytes are no message. ID is the id of the refused
// request when it could be read and is legal, so that the answer can carry it
// (W14.15).
type ParseError struct {
	Code    int64
	Message string
	ID      ID
	cause   error
}

// Error implements error. The text does not quote the message. Message has the
// kind of what is behind it already; what is added is the rest of that.
func (e *ParseError) Error() string {
	var scan *strictjson.Error
	switch {
	case !errors.As(e.cause, &scan):
		return e.Message
	case scan.Detail != "":
		return fmt.Sprintf("%s: %s (byte %d)", e.Message, scan.Detail, scan.Offset)
	}
	return fmt.Sprintf("%s (byte %d)", e.Message, scan.Offset)
}

// Unwrap gives the *strictjson.Error behind it, if that is what it was.
func (e *ParseError) Unwrap() error { return e.cause }

// RPC is the error object to answer with.
func (e *ParseError) RPC() *Error { return &Error{Code: e.Code, Message: e.Message} }
