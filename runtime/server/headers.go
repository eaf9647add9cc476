package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

var errHeader = errors.New("x-mcp-header")

// checkHeaders holds x-mcp-header annotations of an input schema against
// W15.14, so that no server publishes a tool that clients must drop (W15.15).
func checkHeaders(schema []byte) error {
	if !strings.Contains(string(schema), "x-mcp-header") {
		return nil
	}
	seen := map[string]bool{}
	if err := checkProperties(schema, seen, true); err != nil {
		return err
	}
	return nil
}

// checkProperties walks a schema; mirrored is false where an annotation may
// not stand.
func checkProperties(schema []byte, seen map[string]bool, mirrored bool) (err error) {
	visit := func(sub []byte, mirrored bool) {
		if err == nil {
			err = checkSchema(sub, seen, mirrored)
		}
	}
	strictjson.Each(schema, func(name, value []byte) bool {
		switch string(name) {
		case "properties":
			strictjson.Each(value, func(_, sub []byte) bool { visit(sub, mirrored); return err == nil })
		case "$defs", "definitions", "patternProperties", "dependentSchemas":
			strictjson.Each(value, func(_, sub []byte) bool { visit(sub, false); return err == nil })
		case "allOf", "anyOf", "oneOf", "prefixItems":
			strictjson.Elements(value, func(sub []byte) bool { visit(sub, false); return err == nil })
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			visit(value, false)
		}
		return err == nil
	})
	return err
}

func checkSchema(sub []byte, seen map[string]bool, mirrored bool) error {
	if !strictjson.IsObject(sub) {
		return nil
	}
	if raw, ok := strictjson.Get(sub, "x-mcp-header"); ok {
		token, isText := strictjson.String(raw)
		kind, _ := strictjson.Get(sub, "type")
		kindName, _ := strictjson.String(kind)
		switch {
		case !mirrored:
			return fmt.Errorf("%w: only on members that are reached through properties alone", errHeader)
		case !isText || !isToken(token):
			return fmt.Errorf("%w: %.40s is no header token", errHeader, raw)
		case seen[strings.ToLower(token)]:
			return fmt.Errorf("%w: %q stands twice", errHeader, token)
		case kindName != "string" && kindName != "integer" && kindName != "boolean":
			return fmt.Errorf("%w: %q: the type must be string, integer or boolean", errHeader, token)
		}
		seen[strings.ToLower(token)] = true
	}
	return checkProperties(sub, seen, mirrored)
}

// isToken reports whether text is a token of RFC 9110.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}
