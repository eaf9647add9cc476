package jsonrpc

// Outcome is how a request ends: exactly one of Result (raw) and Err is set.
// The zero Outcome is what everything that is no request ends with.
type Outcome struct {
	Result []byte
	Err    *Error
}

// Result makes a successful Outcome from a raw result object.
func Result(raw []byte) Outcome { return Outcome{Result: raw} }

// Fail makes a failed Outcome.
func Fail(err *Error) Outcome { return Outcome{Err: err} }

// IsZero reports whether nothing has been decided.
func (o Outcome) IsZero() bool { return o.Result == nil && o.Err == nil }
