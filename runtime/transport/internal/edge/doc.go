// Package edge is what every HTTP front does before it reads a message: where
// the request came in and where it says it comes from (W17), fields that decide
// something and came twice (P33.6), credentials where none belong (W38.3), the
// media type, and the body within its bounds in size, time and memory (P18).
//
// It owns the checks and how a refusal of them looks. It must not know what a
// message is, which paths there are, or who may call what.
package edge

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Denial is a request that is refused before its message is known.
type Denial struct {
	Status int
	Reason hook.Reason
	// Code and Text make the JSON-RPC error of the body.
	Code int64
	Text string
	// Header are fields of the answer.
	Header [][2]string
	// Close ends the connection: what is left of the body is not read.
	Close bool
}

func deny(status int, reason hook.Reason, text string) *Denial {
	return &Denial{Status: status, Reason: reason, Code: jsonrpc.CodeInvalidRequest, Text: text, Close: true}
}

func (d *Denial) with(name, value string) *Denial {
	d.Header = append(d.Header, [2]string{name, value})
	return d
}

// Overloaded asks to come back later.
func Overloaded() *Denial {
	d := deny(http.StatusServiceUnavailable, hook.RejectOverload, "no memory for the body").with("Retry-After", "1")
	d.Code = jsonrpc.CodeInternal
	return d
}
