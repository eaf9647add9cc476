package strictjson

import (
	"errors"

	"github.com/go-json-experiment/json"
)

// UnknownMember tells from an error of Unmarshal whether it was a member that
// the struct does not have, and where, as a JSON Pointer.
func UnknownMember(err error) (pointer string, ok bool) {
	var e *json.SemanticError
	if errors.As(err, &e) && errors.Is(e.Err, json.ErrUnknownName) {
		return string(e.JSONPointer), true
	}
	return "", false
}
