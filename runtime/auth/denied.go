package auth

import "time"

// Denied is how a transport says no to an HTTP request before it is read: a
// status and the fields that go with it (W38.2). Message may be shown to the
// caller, Cause may not.
type Denied struct {
	// Status is 400, 401 or 403, or 503 when the checker could not find out.
	Status int
	// Challenge is the WWW-Authenticate field; empty for none.
	Challenge string
	// RetryAfter is set with 503.
	RetryAfter time.Duration
	Message    string
	Cause      error
}

// Error implements error. The text is for the caller and for logs alike.
func (d *Denied) Error() string { return d.Message }

// Unwrap returns the cause.
func (d *Denied) Unwrap() error { return d.Cause }
