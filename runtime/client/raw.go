package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/cardinality"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// member is a raw member, nil when it is absent or null.
func member(object []byte, path ...string) json.RawMessage {
	value, ok := strictjson.GetPath(object, path...)
	if !ok || strictjson.IsNull(value) {
		return nil
	}
	return value
}

// text is a member that is a string; anything else reads as empty.
func text(object []byte, path ...string) string {
	out, _ := strictjson.String(member(object, path...))
	return out
}

// flag is a member that is true.
func flag(object []byte, path ...string) bool { return string(member(object, path...)) == "true" }

// number is a member that is a number.
func number(object []byte, path ...string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(string(member(object, path...)), 64)
	return n, err == nil
}

func texts(object []byte, path ...string) (out []string) {
	strictjson.Elements(member(object, path...), func(value []byte) bool {
		if s, ok := strictjson.String(value); ok {
			out = append(out, s)
		}
		return true
	})
	return out
}

// each calls f for the elements of a member that is an array, or for the
// member itself where servers leave the array out.
func each(value []byte, f func(one json.RawMessage)) {
	for _, one := range cardinality.Items(value) {
		f(one)
	}
}

// encoded is a Go value as raw JSON: raw JSON stays as it is, nil is nothing.
func encoded(value any) (json.RawMessage, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return checked(v)
	case []byte:
		return checked(v)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if strictjson.IsNull(raw) {
		return nil, nil
	}
	return raw, nil
}

// checked takes raw JSON of the caller's, which must be good: it becomes part
// of a message.
func checked(raw []byte) (json.RawMessage, error) {
	if len(raw) == 0 || strictjson.IsNull(raw) {
		return nil, nil
	}
	if err := strictjson.Scan(raw, strictjson.FromWorkload); err != nil {
		return nil, fmt.Errorf("client: not JSON: %w", err)
	}
	return raw, nil
}

// encodedObject is encoded, and an object.
func encodedObject(what string, value any) (json.RawMessage, error) {
	raw, err := encoded(value)
	if err != nil {
		return nil, err
	}
	if raw != nil && !strictjson.IsObject(raw) {
		return nil, fmt.Errorf("client: %s must be a JSON object", what)
	}
	return raw, nil
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isObject fails for a result that is none: every method's is an object, and one
// that is not would read as one that holds nothing.
func isObject(method string, raw []byte) error {
	if strictjson.IsObject(raw) {
		return nil
	}
	return fmt.Errorf("client: %s: the result is no object", method)
}
