// Package repair finds what has to change in a workload's results so
// that they are valid in the client's revision, and nothing more (R4, R8): null
// where the protocol's own objects allow none, required members that are
// missing, a schema root without its type. One bad item never costs a list.
//
// It is pure: raw bytes in, edits and notes out. It must not know who asks,
// where the result goes, or how it is sent. Inside schemas (below the root),
// arguments, structured content and members that the protocol does not define
// nothing is touched.
package repair

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Options say what the client's revision asks for beyond R4.
type Options struct {
	// NoExecution removes `execution` from tools (B12.7).
	NoExecution bool
	// Tasks says of every tool that it may run as a task: we see to that where
	// the workload does not (B12.1).
	Tasks bool
	// AnySchemaRoot: an outputSchema need not say what its root is.
	AnySchemaRoot bool
	// TextToo: clients that do not know structuredContent get it as text
	// (R8).
	TextToo bool
}

// Kind is the closed set of repairs, for counting.
type Kind string

// The repairs.
const (
	NullDropped  Kind = "null_dropped"
	SchemaType   Kind = "schema_type"
	ContentAdded Kind = "content_added"
	ListMade     Kind = "list_made"
	ItemLeftOut  Kind = "item_left_out"
)

// Note is one repair; Item is the name or URI of what it concerns, if any.
type Note struct {
	Kind Kind
	Item string
}

// Edits returns what to change in the result of a method. raw is a valid JSON
// object.
func Edits(method string, raw []byte, o Options) (edits []strictjson.Edit, notes []Note) {
	r := &result{raw: raw, opts: o, nulls: bytes.Contains(raw, []byte("null"))}
	switch method {
	case mcp.MethodToolsList:
		r.drop("nextCursor", "_meta")
		r.list("tools", r.tool)
	case mcp.MethodPromptsList:
		r.drop("nextCursor", "_meta")
		r.list("prompts", r.prompt)
	case mcp.MethodResourcesList:
		r.drop("nextCursor", "_meta")
		r.list("resources", r.resource)
	case mcp.MethodTemplatesList:
		r.drop("nextCursor", "_meta")
		r.list("resourceTemplates", r.resource)
	case mcp.MethodToolsCall:
		r.drop("isError", "_meta")
		r.content()
	case mcp.MethodResourcesRead:
		r.drop("_meta")
		r.list("contents", r.plain("mimeType", "text", "blob", "_meta"))
	case mcp.MethodPromptsGet:
		r.drop("description", "_meta")
		r.list("messages", r.keep)
	case mcp.MethodComplete:
		r.drop("_meta")
		r.completion()
	case mcp.MethodInitialize:
		r.drop("instructions", "_meta")
		r.dropIn("serverInfo", "title", "description", "websiteUrl", "icons")
		r.dropIn("capabilities", capabilities[:]...)
	case mcp.MethodDiscover:
		r.drop("instructions", "_meta")
		r.dropIn("capabilities", capabilities[:]...)
	}
	return r.edits, r.notes
}

// capabilities that the protocol knows; a null among them declares nothing.
var capabilities = [...]string{"experimental", "logging", "completions", "prompts", "resources", "tools", "extensions"}

// result collects the edits of one result.
type result struct {
	raw   []byte
	opts  Options
	nulls bool // the word null occurs somewhere
	edits []strictjson.Edit
	notes []Note
}

func (r *result) note(k Kind, item string) { r.notes = append(r.notes, Note{k, item}) }

// drop removes optional members of the result that are null.
func (r *result) drop(names ...string) {
	if !r.nulls {
		return
	}
	for _, name := range names {
		if value, ok := strictjson.Get(r.raw, name); ok && strictjson.IsNull(value) {
			r.edits = append(r.edits, strictjson.Delete(name))
			r.note(NullDropped, "")
		}
	}
}

// dropIn does the same one level down.
func (r *result) dropIn(member string, names ...string) {
	object, _ := strictjson.Get(r.raw, member)
	if !r.nulls || !strictjson.IsObject(object) {
		return
	}
	for _, e := range nulls(object, names...) {
		r.edits = append(r.edits, strictjson.Delete(member, e.Path[0]))
		r.note(NullDropped, "")
	}
}

// nulls returns the deletions of those members of an object that are null.
func nulls(object []byte, names ...string) (edits []strictjson.Edit) {
	for _, name := range names {
		if value, ok := strictjson.Get(object, name); ok && strictjson.IsNull(value) {
			edits = append(edits, strictjson.Delete(name))
		}
	}
	return edits
}
