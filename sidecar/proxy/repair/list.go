package repair

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// fix changes one item of a list; it returns the item itself if nothing has to
// change, and nil if it cannot be made valid.
type fix func(item []byte) []byte

// list repairs the items of a required array, which is made if it is missing.
func (r *result) list(member string, f fix) {
	array, ok := strictjson.Get(r.raw, member)
	if !ok || strictjson.IsNull(array) {
		r.edits = append(r.edits, strictjson.Set([]byte("[]"), member))
		r.note(ListMade, member)
		return
	}
	if out, changed := items(array, f); changed {
		r.edits = append(r.edits, strictjson.Set(out, member))
	}
}

// items applies f to each element of an array. Everything between the elements
// stays as it was, except that an element left out takes its comma along.
func items(array []byte, f fix) (out []byte, changed bool) {
	if !strictjson.IsArray(array) {
		return array, false
	}
	out = make([]byte, 0, len(array)+64)
	at, written := bytes.IndexByte(array, '[')+1, false
	out = append(out, array[:at]...)
	strictjson.Elements(array, func(item []byte) bool {
		begin := at + start(array[at:])
		fixed := f(item)
		switch {
		case fixed == nil:
			changed = true
		default:
			lead := array[at:begin]
			if !written {
				lead = bytes.ReplaceAll(lead, []byte(","), nil)
			} else if !bytes.ContainsRune(lead, ',') {
				lead = []byte(",")
			}
			out = append(append(out, lead...), fixed...)
			written = true
			changed = changed || !same(fixed, item)
		}
		at = begin + len(item)
		return true
	})
	return append(out, array[at:]...), changed
}

// start is where the next element begins.
func start(b []byte) int {
	for i, c := range b {
		switch c {
		case ',', ' ', '\t', '\r', '\n':
		default:
			return i
		}
	}
	return len(b)
}

// same reports whether b is the very slice a, not a copy.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (r *result) keep(item []byte) []byte { return item }

// plain drops null members of an item.
func (r *result) plain(names ...string) fix {
	return func(item []byte) []byte {
		if !r.nulls || !strictjson.IsObject(item) {
			return item
		}
		return r.apply(item, "", nulls(item, names...))
	}
}

// apply splices an item and notes what was dropped.
func (r *result) apply(item []byte, name string, edits []strictjson.Edit) []byte {
	if len(edits) == 0 {
		return item
	}
	out, err := strictjson.Splice(item, edits...)
	if err != nil {
		return item
	}
	for _, e := range edits {
		switch {
		case e.Value != nil && (e.Path[0] == "inputSchema" || e.Path[0] == "outputSchema"):
			r.note(SchemaType, name)
		case e.Value != nil: // its items have their own notes
		case len(e.Path) == 1 && e.Path[0] == "execution" && r.opts.NoExecution:
		default:
			r.note(NullDropped, name)
		}
	}
	return out
}

func (r *result) prompt(item []byte) []byte {
	if !r.nulls || !strictjson.IsObject(item) {
		return item
	}
	edits := nulls(item, "title", "description", "arguments", "icons", "_meta")
	if arguments, ok := strictjson.Get(item, "arguments"); ok {
		out, changed := items(arguments, r.plain("title", "description", "required"))
		if changed {
			edits = append(edits, strictjson.Set(out, "arguments"))
		}
	}
	return r.apply(item, text(item, "name"), edits)
}

func (r *result) resource(item []byte) []byte {
	if !r.nulls || !strictjson.IsObject(item) {
		return item
	}
	edits := nulls(item, "title", "description", "mimeType", "annotations", "size", "icons", "_meta")
	return r.apply(item, text(item, "name"), edits)
}

func text(object []byte, name string) string {
	raw, _ := strictjson.Get(object, name)
	out, _ := strictjson.String(raw)
	return out
}
