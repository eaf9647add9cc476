package repair

import (
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

var object = []byte(`"object"`)

// tool repairs one tool (C25, C26); nil when clients could not use it anyway.
func (r *result) tool(item []byte) []byte {
	name, ok := strictjson.Get(item, "name")
	label, isString := strictjson.String(name)
	if !ok || !isString {
		r.note(ItemLeftOut, "")
		return nil
	}
	var edits []strictjson.Edit
	edits, ok = inputSchema(edits, item)
	if !ok {
		r.note(ItemLeftOut, label)
		return nil
	}
	edits = r.outputSchema(edits, item)
	if r.opts.NoExecution {
		if _, has := strictjson.Get(item, "execution"); has {
			edits = append(edits, strictjson.Delete("execution"))
		}
	}
	if support, has := strictjson.GetPath(item, "execution", "taskSupport"); r.opts.Tasks && (!has || string(support) != `"required"`) {
		edits = append(edits, strictjson.Set([]byte(`"optional"`), "execution", "taskSupport"))
	}
	if r.nulls {
		edits = append(edits, nulls(item, "title", "description", "icons", "annotations", "_meta")...)
		if !r.opts.NoExecution && !r.opts.Tasks {
			edits = append(edits, nulls(item, "execution")...)
		}
		if annotations, has := strictjson.Get(item, "annotations"); has && strictjson.IsObject(annotations) {
			for _, e := range nulls(annotations, "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint") {
				edits = append(edits, strictjson.Delete("annotations", e.Path[0]))
			}
		}
	}
	return r.apply(item, label, edits)
}

// inputSchema must be an object whose root type is "object" (W24.6).
func inputSchema(edits []strictjson.Edit, tool []byte) ([]strictjson.Edit, bool) {
	schema, ok := strictjson.Get(tool, "inputSchema")
	if !ok || strictjson.IsNull(schema) {
		return append(edits, strictjson.Set([]byte(`{"type":"object"}`), "inputSchema")), true
	}
	if !strictjson.IsObject(schema) {
		return edits, false
	}
	kind, ok := strictjson.Get(schema, "type")
	switch {
	case !ok || strictjson.IsNull(kind):
		edits = append(edits, strictjson.Set(object, "inputSchema", "type"))
	case string(kind) != string(object):
		return edits, false
	}
	for _, e := range nulls(schema, "required", "properties") {
		edits = append(edits, strictjson.Delete("inputSchema", e.Path[0]))
	}
	return edits, true
}

// outputSchema is optional; up to 2025-11-25 its root is an object (W24.7).
func (r *result) outputSchema(edits []strictjson.Edit, tool []byte) []strictjson.Edit {
	schema, ok := strictjson.Get(tool, "outputSchema")
	switch {
	case !ok:
	case strictjson.IsNull(schema):
		edits = append(edits, strictjson.Delete("outputSchema"))
	case strictjson.IsObject(schema) && !r.opts.AnySchemaRoot:
		if kind, has := strictjson.Get(schema, "type"); !has || strictjson.IsNull(kind) {
			edits = append(edits, strictjson.Set(object, "outputSchema", "type"))
		}
	}
	return edits
}
