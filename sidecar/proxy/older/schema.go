package older

import (
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxDepth bounds how deep a schema is rewritten; what lies deeper stays.
const maxDepth = 64

// Wraps reports whether an outputSchema has a root that revisions up to
// 2025-11-25 cannot have, so that schema and values are wrapped for them
// (B14.3).
func Wraps(outputSchema []byte) bool {
	return strictjson.IsObject(outputSchema) && text(outputSchema, "type") != "object"
}

// tool is a tool as revision p has it.
func tool(p mcp.Profile, item []byte) []byte {
	schema, ok := strictjson.Get(item, "outputSchema")
	switch {
	case !ok:
		return item
	case !p.StructuredOutput:
		return spliced(item, strictjson.Delete("outputSchema"))
	case !p.AnyOutput && Wraps(schema):
		return spliced(item, strictjson.Set(wrap(schema), "outputSchema"))
	}
	return item
}

// wrap makes a schema the property "result" of an object. Its $schema moves
// up; references within it follow, unless it has an address of its own.
func wrap(schema []byte) []byte {
	out := []byte(`{"type":"object","properties":{"result":`)
	dialect, has := strictjson.Get(schema, "$schema")
	inner := spliced(schema, strictjson.Delete("$schema"))
	if _, addressed := strictjson.Get(schema, "$id"); !addressed {
		inner = moved(inner, 0)
	}
	out = append(append(out, inner...), `},"required":["result"]`...)
	if has {
		out = append(append(out, `,"$schema":`...), dialect...)
	}
	return append(out, '}')
}

// moved rewrites the local references of a schema that now is the property
// "result". Anchors are found wherever they are and stay.
func moved(schema []byte, depth int) []byte {
	if depth > maxDepth {
		return schema
	}
	if strictjson.IsArray(schema) {
		return mapped(schema, func(item []byte) []byte { return moved(item, depth+1) })
	}
	var edits []strictjson.Edit
	strictjson.Each(schema, func(key, value []byte) bool {
		switch name := string(key); name {
		case "enum", "const", "default", "examples": // data
		case "$ref":
			ref, isText := strictjson.String(value)
			if isText && (ref == "#" || strings.HasPrefix(ref, "#/")) {
				edits = append(edits, strictjson.Set(strictjson.Quote(nil, "#/properties/result"+ref[1:]), name))
				break
			}
			fallthrough // a property of that name
		default:
			if next := moved(value, depth+1); !same(next, value) {
				edits = append(edits, strictjson.Set(next, name))
			}
		}
		return true
	})
	return spliced(schema, edits...)
}
