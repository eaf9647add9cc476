package schema

import (
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Errors of Compile about a schema's size.
var (
	ErrTooLarge = errors.New("schema: larger than it may be")
	ErrTooDeep  = errors.New("schema: deeper than it may be")
)

// measure refuses a schema that is not strict JSON or exceeds a bound, before
// anything is built of it.
func measure(raw []byte) error {
	if len(raw) > MaxBytes {
		return fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, len(raw), MaxBytes)
	}
	if err := strictjson.Scan(raw, strictjson.FromClient); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	parts, depth, deepest := 0, 0, 0
	inString := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			parts++
			depth++
		case c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		deepest = max(deepest, depth)
	}
	if parts > MaxParts {
		return fmt.Errorf("%w: %d parts of %d", ErrTooLarge, parts, MaxParts)
	}
	if deepest > MaxDepth {
		return fmt.Errorf("%w: %d levels of %d", ErrTooDeep, deepest, MaxDepth)
	}
	return nil
}
