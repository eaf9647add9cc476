package paramheader

import (
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Field is one HTTP field. Value is the text that it stands for; Encode makes
// what is sent.
type Field struct{ Name, Value string }

// Fields are those of one call: one for each annotated argument that is there
// and not null (W15.16). Objects and arrays, which the schema does not allow
// there, have none: they are the server's to refuse.
func (ps Params) Fields(arguments []byte) (out []Field) {
	for _, p := range ps {
		raw, ok := strictjson.GetPath(arguments, p.Path...)
		if !ok {
			continue
		}
		if text, ok := Text(raw); ok {
			out = append(out, Field{Name: p.Header, Value: text})
		}
	}
	return out
}

// ErrMismatch is wrapped by every error of Check.
var ErrMismatch = errors.New("header mismatch")

// Check compares the fields of a call with its arguments (W15.17, W15.18):
// field returns the value of a field by its name, and whether it is there.
// Fields that no annotation asks for are not looked at (W15.8). The error names
// the field and shows neither value.
func (ps Params) Check(field func(name string) (value string, given bool), arguments []byte) error {
	for _, p := range ps {
		value, given := field(p.Header)
		raw, _ := strictjson.GetPath(arguments, p.Path...)
		_, repeated := Text(raw)
		switch text, ok := Decode(value); {
		case !repeated && !given:
		case !repeated:
			return fmt.Errorf("%w: %s repeats nothing in the arguments", ErrMismatch, p.Header)
		case !given:
			return fmt.Errorf("%w: %s is required", ErrMismatch, p.Header)
		case !ok:
			return fmt.Errorf("%w: %s has characters that it may not have", ErrMismatch, p.Header)
		case !equal(text, raw):
			return fmt.Errorf("%w: %s must equal the argument", ErrMismatch, p.Header)
		}
	}
	return nil
}
