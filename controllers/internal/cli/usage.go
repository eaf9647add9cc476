package cli

import (
	"errors"
	"fmt"
	"strings"
)

// usageError is a command line that cannot be carried out.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// isUsage reports whether err is about the command line. Cobra has no type for
// a verb it does not know.
func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) || strings.HasPrefix(err.Error(), "unknown command ")
}
