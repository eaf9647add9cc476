package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// decodeStrict reads exactly one JSON value into the struct v points to:
// names are unique and case-sensitive, and all of them known.
func decodeStrict(data []byte, v any) error {
	err := strictjson.Unmarshal(data, v)
	if pointer, ok := strictjson.UnknownMember(err); ok {
		return &UnknownFieldError{Field: strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")}
	}
	return err
}

// encodeCanonical writes v, a struct without maps, in the one form that is
// hashed: declaration order, no spaces, no HTML escapes.
func encodeCanonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
