package peer

import (
	"errors"
	"fmt"
	"time"
)

// Reason is the closed set of ways in which a call gets no answer from the
// server. It is safe as a metric label and as `data.reason` of an error.
type Reason string

// The reasons.
const (
	// Ended: the process or connection ended (B3.8).
	Ended Reason = "workload_restarted"
	// Cut: the server closed a connection that it had answered on before, as the
	// request was sent on it. Whether it arrived is not known.
	Cut Reason = "connection_closed"
	// Unreachable: nobody listens; the request was not delivered.
	Unreachable Reason = "unreachable"
	// BadResponse: what came is not the protocol (B16, R5).
	BadResponse Reason = "bad_response"
	// TooLarge: an answer over the size limit.
	TooLarge Reason = "response_too_large"
	// SessionGone: the server has forgotten the session (B3.7, R10); the
	// request was refused, not run.
	SessionGone Reason = "session_gone"
	// StreamLost: the response stream broke and could not be resumed (B3.9).
	StreamLost Reason = "stream_lost"
	// Status: an HTTP status without a JSON-RPC message; see Failure.Status.
	Status Reason = "http_status"
	// Auth: 401 or 403 (B15.10).
	Auth Reason = "upstream_auth"
	// HostRefused: the server insists on another Host header (C20).
	HostRefused Reason = "host_refused"
	// Redirected: a redirect that is not followed (R17).
	Redirected Reason = "redirected"
	// Busy: the bound on calls in flight is reached; nothing was sent.
	Busy Reason = "busy"
	// Closed: this side closed the leg.
	Closed Reason = "closed"
)

// Failure is why a call has no answer from the server. It is the only error
// of Call besides the caller's own cause.
type Failure struct {
	Reason Reason
	// Status is the HTTP status that came instead of an answer, or 0.
	Status int
	// NotDelivered is set when it is certain that the server did not act on
	// the request, so that it may be sent again (B0.5).
	NotDelivered bool
	// RetryAfter is how long the server asks to be left alone; 0: it does not.
	RetryAfter time.Duration
	// Err is the cause underneath, for logs.
	Err error
}

// Error implements error. The text is for logs, never for clients (B16.3).
func (f *Failure) Error() string {
	switch {
	case f.Err != nil && f.Status != 0:
		return fmt.Sprintf("%s (HTTP %d): %v", f.Reason, f.Status, f.Err)
	case f.Err != nil:
		return fmt.Sprintf("%s: %v", f.Reason, f.Err)
	case f.Status != 0:
		return fmt.Sprintf("%s (HTTP %d)", f.Reason, f.Status)
	}
	return string(f.Reason)
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// ReasonOf returns the reason of err, or "" when it is no Failure.
func ReasonOf(err error) Reason {
	var f *Failure
	if errors.As(err, &f) {
		return f.Reason
	}
	return ""
}
