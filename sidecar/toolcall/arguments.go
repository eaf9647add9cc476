package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ArgumentError is an argument that the tool cannot take.
type ArgumentError struct{ Problem string }

// Error implements error.
func (e *ArgumentError) Error() string { return e.Problem }

func wrong(format string, args ...any) error { return &ArgumentError{fmt.Sprintf(format, args...)} }

// Arguments makes the arguments of a call: the object raw, empty for none, with
// each of pairs ("name=value") laid over it. Values become what the properties
// of schema say; those of a property without a single type are JSON if they can
// be, else text. A name that is there more than once makes a list. Errors are
// *ArgumentError.
func Arguments(schema json.RawMessage, raw string, pairs []string) (json.RawMessage, error) {
	object := []byte("{}")
	if raw != "" {
		if err := strictjson.Scan([]byte(raw), strictjson.FromClient); err != nil || !strictjson.IsObject([]byte(raw)) {
			return nil, wrong("--args is no JSON object")
		}
		object = []byte(raw)
	}
	values := map[string][]string{}
	var names []string
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, wrong("%q is not NAME=VALUE", pair)
		}
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	for _, name := range names {
		property, known := strictjson.GetPath(schema, "properties", name)
		if closed, _ := strictjson.Get(schema, "additionalProperties"); !known && string(closed) == "false" {
			return nil, wrong("the tool knows no argument %q; it takes %s", name, properties(schema))
		}
		value, err := typed(name, property, values[name])
		if err != nil {
			return nil, err
		}
		if object, err = strictjson.Splice(object, strictjson.Set(value, name)); err != nil {
			return nil, wrong("argument %q: %v", name, err)
		}
	}
	if raw == "" {
		return object, missing(schema, object)
	}
	return object, nil // what was written as JSON is sent as it is
}

// typed makes the value of one argument.
func typed(name string, property []byte, values []string) ([]byte, error) {
	kinds := types(property)
	items, list := listOf(property)
	if len(values) == 1 && (!list || strictjson.IsArray([]byte(values[0])) || values[0] == "null" && slices.Contains(kinds, "null")) {
		return single(name, kinds, values[0])
	}
	if !list && len(kinds) == 1 {
		return nil, wrong("argument %q is one %s, and is there %d times", name, kinds[0], len(values))
	}
	out := []byte{'['}
	for i, value := range values {
		one, err := single(name, types(items), value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	return append(out, ']'), nil
}

// single makes one value of one of the kinds; none means any.
func single(name string, kinds []string, value string) ([]byte, error) {
	text := strictjson.Quote(nil, value)
	if slices.Equal(kinds, []string{"string"}) {
		return text, nil
	}
	if valid := strictjson.Scan([]byte(value), strictjson.FromClient) == nil; valid {
		kind := kindOf(value)
		if len(kinds) == 0 || slices.Contains(kinds, kind) || kind == "integer" && slices.Contains(kinds, "number") {
			return []byte(value), nil
		}
	}
	if len(kinds) == 0 || slices.Contains(kinds, "string") {
		return text, nil
	}
	return nil, wrong("argument %s=%s is no %s", name, value, strings.Join(kinds, " or "))
}

// kindOf is the schema's name for the kind of a valid JSON value.
func kindOf(value string) string {
	switch value = strings.TrimSpace(value); value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if strings.ContainsAny(value, ".eE") {
		return "number"
	}
	return "integer"
}

// missing tells of required arguments that are not there, unless the schema
// has a default for them.
func missing(schema, object []byte) error {
	var names []string
	required, _ := strictjson.Get(schema, "required")
	strictjson.Elements(required, func(one []byte) bool {
		name, ok := strictjson.String(one)
		_, given := strictjson.Get(object, name)
		_, fallback := strictjson.GetPath(schema, "properties", name, "default")
		if ok && !given && !fallback {
			names = append(names, name)
		}
		return true
	})
	if len(names) == 0 {
		return nil
	}
	return wrong("the tool needs --arg %s=…; it takes %s", strings.Join(names, "=… --arg "), properties(schema))
}

// properties names what a schema takes.
func properties(schema []byte) string {
	var out []string
	all, _ := strictjson.Get(schema, "properties")
	strictjson.Each(all, func(raw, property []byte) bool {
		name := string(raw)
		if kinds := types(property); len(kinds) > 0 {
			name += " (" + strings.Join(kinds, " or ") + ")"
		}
		out = append(out, name)
		return true
	})
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
