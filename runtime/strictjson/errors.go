package strictjson

import (
	"errors"
	"fmt"
)

// The ways in which a text is refused. Grammar means that it is not JSON at
// all (-32700 for JSON-RPC); the others are JSON that we do not take (-32600).
var (
	ErrGrammar   = errors.New("not valid JSON")
	ErrDuplicate = errors.New("duplicate member name")
	ErrMembers   = fmt.Errorf("more than %d members in one object", MaxMembers)
	ErrDepth     = fmt.Errorf("nested deeper than %d levels", MaxDepth)
)

// Error tells why and where a text was refused. It unwraps to one of the Err
// values above. It never quotes the text.
type Error struct {
	// Kind is one of the Err values of this package.
	Kind error
	// Offset is the byte position at which the problem was noticed.
	Offset int64
	// Detail narrows Kind; empty when there is nothing to add.
	Detail string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Detail != "" {
		return fmt.Sprintf("%v: %s (byte %d)", e.Kind, e.Detail, e.Offset)
	}
	return fmt.Sprintf("%v (byte %d)", e.Kind, e.Offset)
}

// Unwrap gives Kind to errors.Is.
func (e *Error) Unwrap() error { return e.Kind }

// IsGrammar reports whether err means that the text was not JSON, as opposed
// to JSON that the policy refuses.
func IsGrammar(err error) bool { return errors.Is(err, ErrGrammar) }
