package older

import (
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
)

// Result returns what has to change in the result of a method for a client of
// revision p. wrapped says that the called tool's output was listed as wrapped
// (Wraps).
func Result(p mcp.Profile, method string, raw []byte, wrapped bool) []strictjson.Edit {
	switch method {
	case mcp.MethodToolsList:
		return inArray(raw, "tools", func(item []byte) []byte { return tool(p, item) })
	case mcp.MethodToolsCall:
		return call(p, raw, wrapped)
	case mcp.MethodPromptsGet:
		return inArray(raw, "messages", func(item []byte) []byte {
			content, _ := strictjson.Get(item, "content")
			if next := block(p, content); content != nil && !same(next, content) {
				return spliced(item, strictjson.Set(next, "content"))
			}
			return item
		})
	}
	return nil
}

func inArray(raw []byte, member string, f func([]byte) []byte) []strictjson.Edit {
	array, _ := strictjson.Get(raw, member)
	if !strictjson.IsArray(array) {
		return nil
	}
	if next := mapped(array, f); !same(next, array) {
		return []strictjson.Edit{strictjson.Set(next, member)}
	}
	return nil
}

// call converts a tool result (B14.1–14.3, R8).
func call(p mcp.Profile, raw []byte, wrapped bool) (edits []strictjson.Edit) {
	content, _ := strictjson.Get(raw, "content")
	if !strictjson.IsArray(content) {
		content = []byte("[]")
	}
	next := mapped(content, func(item []byte) []byte { return block(p, item) })
	structured, given := strictjson.Get(raw, "structuredContent")
	if given {
		drop := !p.StructuredOutput && !broken.Rule("B14.2")
		wrap := !drop && !p.AnyOutput && (wrapped || !strictjson.IsObject(structured))
		switch {
		case drop:
			edits = append(edits, strictjson.Delete("structuredContent"))
		case wrap:
			edits = append(edits, strictjson.Set(append(append([]byte(`{"result":`), structured...), '}'), "structuredContent"))
		}
		if (drop || wrap) && !speaks(next) {
			next = appended(next, words(string(structured)))
		}
	}
	if !same(next, content) {
		edits = append(edits, strictjson.Set(next, "content"))
	}
	return edits
}

// speaks reports whether content has a text.
func speaks(content []byte) (found bool) {
	strictjson.Elements(content, func(item []byte) bool {
		found = text(item, "type") == "text"
		return !found
	})
	return found
}

func appended(array, item []byte) []byte {
	out := []byte{'['}
	strictjson.Elements(array, func(one []byte) bool {
		out = append(append(out, one...), ',')
		return true
	})
	return append(append(out, item...), ']')
}
