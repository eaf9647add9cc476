package repair

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// content makes sure that a tool result has some (R8, C27).
func (r *result) content() {
	content, structured := contents(r.raw)
	also := structured != nil
	if also && strictjson.IsNull(structured) {
		r.edits = append(r.edits, strictjson.Delete("structuredContent"))
		r.note(NullDropped, "")
		also = false
	}
	missing := content == nil || strictjson.IsNull(content)
	switch {
	case missing && also:
		r.edits = append(r.edits, strictjson.Set(append(append([]byte{'['}, asText(structured)...), ']'), "content"))
		r.note(ContentAdded, "")
	case missing:
		r.edits = append(r.edits, strictjson.Set([]byte("[]"), "content"))
		r.note(ContentAdded, "")
	default:
		changed := false
		if r.nulls {
			content, changed = items(content, r.plain("annotations", "_meta", "title", "description", "mimeType", "size", "icons"))
		}
		if also && r.opts.TextToo && strictjson.IsArray(content) && !hasText(content) {
			content, changed = appended(content, asText(structured)), true
			r.note(ContentAdded, "")
		}
		if changed {
			r.edits = append(r.edits, strictjson.Set(content, "content"))
		}
	}
}

// contents are the two forms of what a tool gave back, nil for one that is not
// there.
func contents(result []byte) (content, structured []byte) {
	strictjson.Each(result, func(name, value []byte) bool {
		switch string(name) {
		case "content":
			content = value
		case "structuredContent":
			structured = value
		}
		return content == nil || structured == nil
	})
	return content, structured
}

// asText is a TextContent of raw JSON.
func asText(raw []byte) []byte {
	return append(strictjson.Quote([]byte(`{"type":"text","text":`), string(raw)), '}')
}

func hasText(content []byte) (found bool) {
	strictjson.Elements(content, func(item []byte) bool {
		kind, _ := strictjson.Get(item, "type")
		found = string(kind) == `"text"`
		return !found
	})
	return found
}

// appended puts one more element at the end of an array.
func appended(array, item []byte) []byte {
	end := bytes.LastIndexByte(array, ']')
	if end < 0 {
		return array
	}
	out := append([]byte(nil), array[:end]...)
	if start(array[bytes.IndexByte(array, '[')+1:]) < end-bytes.IndexByte(array, '[')-1 {
		out = append(out, ',')
	}
	return append(append(out, item...), ']')
}

// completion must have its list of values (W28.2).
func (r *result) completion() {
	inner, ok := strictjson.Get(r.raw, "completion")
	if !ok || !strictjson.IsObject(inner) {
		r.edits = append(r.edits, strictjson.Set([]byte(`{"values":[]}`), "completion"))
		r.note(ListMade, "completion")
		return
	}
	if values, has := strictjson.Get(inner, "values"); !has || strictjson.IsNull(values) {
		r.edits = append(r.edits, strictjson.Set([]byte("[]"), "completion", "values"))
		r.note(ListMade, "completion")
	}
	r.dropIn("completion", "total", "hasMore")
}
