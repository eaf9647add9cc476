package auth

import (
	"errors"
	"fmt"
	"strings"
)

// Code is an error code of RFC 6750 section 3.1.
type Code string

// The codes. A request without any token is refused without a code.
const (
	NoToken           Code = ""
	InvalidRequest    Code = "invalid_request"
	InvalidToken      Code = "invalid_token"
	InsufficientScope Code = "insufficient_scope"
)

// Status returns the HTTP status that goes with the code (W38.2).
func (c Code) Status() int {
	switch c {
	case InvalidRequest:
		return 400
	case InsufficientScope:
		return 403
	default:
		return 401
	}
}

// Refusal is the error of a request that may not go on. It may be shown to the
// caller: Reason holds words of ours, never the token or a part of it.
type Refusal struct {
	Code   Code
	Reason string
	// Scopes are what the operation needs, all of them, also those that the
	// token has already: a client asks for exactly this list.
	Scopes []string
	// Cause is for logs only; nil when there is nothing more to say.
	Cause error
}

// Refuse makes a Refusal of a code and a reason.
func Refuse(code Code, reason string) *Refusal { return &Refusal{Code: code, Reason: reason} }

// NeedScopes returns nil when id has all the scopes, else the Refusal that asks
// for them.
func NeedScopes(id *Identity, scopes ...string) *Refusal {
	missing := id.Missing(scopes...)
	if len(missing) == 0 {
		return nil
	}
	return &Refusal{
		Code: InsufficientScope, Scopes: scopes,
		Reason: "the token lacks the scope " + strings.Join(missing, " "),
	}
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Code == NoToken {
		return "no bearer token"
	}
	return fmt.Sprintf("%s: %s", r.Code, r.Reason)
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// AsRefusal finds the Refusal in err; nil when there is none.
func AsRefusal(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}
