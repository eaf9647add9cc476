// Package edge is what every HTTP front does before it reads a message: where
// the request came in and where it says it comes from (W17), fields that decide
// something and came twice (P33.6), credentials where none belong (W38.3), the
// media type, and the body within its bounds in size, time and memory (P18).
//
// And it is how every answer is written, in time and with what all have in
// common. It owns the checks and how a refusal of them looks. It must not know
// what a message is, which paths there are, or who may call what.
package edge

import (
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Denial is a request that is refused before its message is known.
type Denial struct {
	Status int
	Reason hook.Reason
	// Code, Text and Data make the JSON-RPC error of the body.
	Code int64
	Text string
	Data []byte
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

// Stranger refuses a request whose sender is not known. err is Authenticate's; a
// *auth.Denied has the form of its own (W38.2).
func Stranger(err error) *Denial {
	var denied *auth.Denied
	if !errors.As(err, &denied) {
		return deny(http.StatusUnauthorized, hook.RejectAuth, "not authenticated")
	}
	d := deny(denied.Status, hook.RejectAuth, denied.Message)
	if denied.Challenge != "" {
		d.with("WWW-Authenticate", denied.Challenge)
	}
	if denied.RetryAfter > 0 {
		d.with("Retry-After", strconv.FormatInt(int64((denied.RetryAfter+time.Second-1)/time.Second), 10))
	}
	return d
}

// Bucket is whom a limit per principal counts together: the anonymous by their
// address (P22), which is the connection's when client is nil.
func Bucket(who *auth.Identity, r *http.Request, client func(*http.Request) netip.Addr) string {
	if client == nil {
		client = auth.Proxies(nil).Client
	}
	return auth.Bucket(who, client(r))
}

// Overloaded asks to come back later.
func Overloaded() *Denial {
	d := deny(http.StatusServiceUnavailable, hook.RejectOverload, "no memory for the body").with("Retry-After", "1")
	d.Code = jsonrpc.CodeInternal
	return d
}
