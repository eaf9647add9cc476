package strictjson

import "github.com/go-json-experiment/json/jsontext"

// writer copies an object member by member. Separators travel with the member
// that follows them, except that the first member written takes the space that
// followed the opening brace.
type writer struct {
	dst, src []byte
	prevEnd  int // end of the member read last; 0 before the first
	firstAt  int // offset of the first member's name
	seen     bool
	written  bool
}

// lead writes what stands before a member whose name begins at nameAt.
func (w *writer) lead(nameAt int) {
	w.see(nameAt)
	switch {
	case w.written:
		w.dst = append(w.dst, w.src[w.prevEnd:nameAt]...)
	default:
		w.dst = append(w.dst, w.src[:w.firstAt]...)
		w.written = true
	}
}

func (w *writer) see(nameAt int) {
	if !w.seen {
		w.seen, w.firstAt = true, nameAt
	}
}

func (w *writer) keep(nameAt, _, valueEnd int) {
	w.lead(nameAt)
	w.dst = append(w.dst, w.src[nameAt:valueEnd]...)
	w.prevEnd = valueEnd
}

func (w *writer) drop(nameAt, valueEnd int) {
	w.see(nameAt)
	w.prevEnd = valueEnd
}

// edit writes a member that edits concern: either one edit ends here, or all
// of them lie inside its value.
func (w *writer) edit(group []Edit, depth, nameAt, valueAt, valueEnd int) error {
	if len(group[0].Path) == depth+1 {
		if group[0].Value == nil {
			w.drop(nameAt, valueEnd)
			return nil
		}
		w.lead(nameAt)
		w.dst = append(w.dst, w.src[nameAt:valueAt]...)
		w.dst = append(w.dst, group[0].Value...)
		w.prevEnd = valueEnd
		return nil
	}
	value := w.src[valueAt:valueEnd]
	if !IsObject(value) && !adds(group) {
		w.keep(nameAt, valueAt, valueEnd) // nothing in it to delete
		return nil
	}
	if IsNull(value) {
		value = []byte("{}")
	}
	w.lead(nameAt)
	w.dst = append(w.dst, w.src[nameAt:valueAt]...)
	out, err := splice(w.dst, value, depth+1, group)
	if err != nil {
		return err
	}
	w.dst, w.prevEnd = out, valueEnd
	return nil
}

// add writes a member that the object did not have.
func (w *writer) add(name string, group []Edit, depth int) error {
	if w.written {
		w.dst = append(w.dst, ',')
	} else {
		w.dst = append(w.dst, w.src[:w.start()]...)
		w.written = true
	}
	w.dst = quote(w.dst, name)
	w.dst = append(w.dst, ':')
	if len(group[0].Path) == depth+1 {
		w.dst = append(w.dst, group[0].Value...)
		return nil
	}
	out, err := splice(w.dst, []byte("{}"), depth+1, group)
	if err != nil {
		return err
	}
	w.dst = out
	return nil
}

// start is the offset at which the first member would stand.
func (w *writer) start() int {
	if w.seen {
		return w.firstAt
	}
	for i, c := range w.src {
		if c == '{' {
			return i + 1
		}
	}
	return 0
}

// finish writes what followed the last member.
func (w *writer) finish() []byte {
	if !w.written {
		w.dst = append(w.dst, w.src[:w.start()]...)
	}
	if !w.seen {
		return append(w.dst, w.src[w.start():]...)
	}
	return append(w.dst, w.src[w.prevEnd:]...)
}

func quote(dst []byte, text string) []byte {
	// Invalid UTF-8 in a name that we chose cannot happen; it would be
	// replaced, never written raw.
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// Quote appends text as a JSON string to dst. Invalid UTF-8 becomes U+FFFD.
func Quote(dst []byte, text string) []byte { return quote(dst, text) }
