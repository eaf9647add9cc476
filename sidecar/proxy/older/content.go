package older

import (
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// block is a content block as revision p has it; the same slice where nothing
// has to change (B14.1).
func block(p mcp.Profile, raw []byte) []byte {
	kind := text(raw, "type")
	switch kind {
	case "text", "image", "resource":
		return raw
	case "audio":
		if p.AudioContent {
			return raw
		}
		data, _ := strictjson.Get(raw, "data")
		return words("[audio, " + text(raw, "mimeType") + ", " + strconv.Itoa(max(0, len(data)-2)*3/4) + " bytes]")
	case "resource_link":
		if p.ResourceLinks {
			return raw
		}
		out := text(raw, "name") + ": " + text(raw, "uri")
		if d := text(raw, "description"); d != "" {
			out += " (" + d + ")"
		}
		return words(out)
	}
	return words("[content of type " + clip(kind) + "]")
}

// words is a TextContent.
func words(s string) []byte {
	return append(strictjson.Quote([]byte(`{"type":"text","text":`), s), '}')
}

func clip(s string) string { return s[:min(len(s), 64)] }

// mapped applies f to each element of an array; nil leaves one out. The same
// slice comes back when nothing changes.
func mapped(array []byte, f func(item []byte) []byte) []byte {
	out := []byte{'['}
	changed := false
	strictjson.Elements(array, func(item []byte) bool {
		next := f(item)
		if next == nil {
			changed = true
			return true
		}
		changed = changed || !same(next, item)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, next...)
		return true
	})
	if !changed {
		return array
	}
	return append(out, ']')
}

// same reports whether b is the very slice a.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// spliced is object with edits, or object itself when they cannot be made.
func spliced(object []byte, edits ...strictjson.Edit) []byte {
	if len(edits) == 0 {
		return object
	}
	out, err := strictjson.Splice(object, edits...)
	if err != nil {
		return object
	}
	return out
}

func text(object []byte, name string) string {
	raw, _ := strictjson.Get(object, name)
	out, _ := strictjson.String(raw)
	return out
}

func has(object []byte, name string) bool {
	value, ok := strictjson.Get(object, name)
	return ok && !strictjson.IsNull(value)
}
