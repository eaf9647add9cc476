package strictjson

import "errors"

// Edit is one change of a member: Path leads through nested objects to it, a
// nil Value deletes it, any other Value (raw JSON) replaces or adds it.
type Edit struct {
	Path  []string
	Value []byte
}

// Set makes an Edit that replaces or adds the member at path.
func Set(value []byte, path ...string) Edit { return Edit{Path: path, Value: value} }

// Delete makes an Edit that removes the member at path.
func Delete(path ...string) Edit { return Edit{Path: path} }

// Errors of Splice.
var (
	ErrNotObject = errors.New("not a JSON object on the way to the member")
	ErrEdits     = errors.New("edits without a path, or one inside another")
)

// Splice applies edits to a JSON object and returns new bytes; object is not
// changed and every byte outside the edited members stays as it was (P26).
//
// A replaced member keeps its place; an added one goes to the end; a deleted
// one takes one comma with it. Missing objects on the way to an added member
// are made, and null on the way counts as missing (P14). Deleting what is not
// there changes nothing. Of a name that occurs twice the first is edited and
// the others go. Edits must not name the same member or lie in one another.
// Values are inserted as they are and must be valid JSON.
func Splice(object []byte, edits ...Edit) ([]byte, error) {
	size := len(object)
	for i, e := range edits {
		if len(e.Path) == 0 {
			return nil, ErrEdits
		}
		for _, other := range edits[:i] {
			if overlap(e.Path, other.Path) {
				return nil, ErrEdits
			}
		}
		size += len(e.Value)
		for _, name := range e.Path {
			size += len(name) + 8
		}
	}
	return splice(make([]byte, 0, size), object, 0, edits)
}

func overlap(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// splice writes object to dst with the edits whose paths, from depth on, lead
// into it.
func splice(dst, object []byte, depth int, edits []Edit) ([]byte, error) {
	if !IsObject(object) {
		return nil, ErrNotObject
	}
	var (
		w    = writer{dst: dst, src: object}
		done []string // names seen that an edit concerns
		err  error
	)
	whole := members(object, func(raw []byte, nameAt, valueAt, valueEnd int) bool {
		group := under(edits, depth, raw)
		switch {
		case len(group) == 0:
			w.keep(nameAt, valueAt, valueEnd)
		case contains(done, group[0].Path[depth]):
			w.drop(nameAt, valueEnd)
		default:
			done = append(done, group[0].Path[depth])
			err = w.edit(group, depth, nameAt, valueAt, valueEnd)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, ErrNotObject
	}
	for i, e := range edits {
		name := e.Path[depth]
		if contains(done, name) {
			continue
		}
		done = append(done, name)
		if group := underText(edits[i:], depth, name); adds(group) {
			if err := w.add(name, group, depth); err != nil {
				return nil, err
			}
		}
	}
	return w.finish(), nil
}

// under selects the edits whose path at depth is the raw name.
func under(edits []Edit, depth int, raw []byte) []Edit {
	var out []Edit
	for _, e := range edits {
		if nameIs(raw, e.Path[depth]) {
			out = append(out, e)
		}
	}
	return out
}

func underText(edits []Edit, depth int, name string) []Edit {
	var out []Edit
	for _, e := range edits {
		if e.Path[depth] == name {
			out = append(out, e)
		}
	}
	return out
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func adds(edits []Edit) bool {
	for _, e := range edits {
		if e.Value != nil {
			return true
		}
	}
	return false
}
