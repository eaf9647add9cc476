package strictjson

// The grammar of RFC 8259 for what has no parts: each function returns the
// offset after a value that begins at at, or where it breaks off.

// byteAt is the byte at an offset, 0 at the end of the text, where none that
// means something is missed: the text is UTF-8 and 0 is in no token.
func byteAt(data []byte, at int) byte {
	if at < len(data) {
		return data[at]
	}
	return 0
}

// ungrammatical is the error for what is at an offset. The text is not quoted: it is
// somebody else's.
func ungrammatical(data []byte, at int) error {
	e := &Error{Kind: ErrGrammar, Offset: int64(at)}
	if at >= len(data) {
		e.Detail = "unexpected end"
	}
	return e
}

func scalar(data []byte, at int) (end int, ok bool) {
	switch c := byteAt(data, at); c {
	case '"':
		return text(data, at)
	case 't':
		return literal(data, at, "true")
	case 'f':
		return literal(data, at, "false")
	case 'n':
		return literal(data, at, "null")
	}
	return number(data, at)
}

func literal(data []byte, at int, word string) (end int, ok bool) {
	for i := range len(word) {
		if byteAt(data, at+i) != word[i] {
			return at + i, false
		}
	}
	return at + len(word), true
}

// text checks a string. Halves of surrogate pairs may stand alone (P8).
func text(data []byte, at int) (end int, ok bool) {
	for end = at + 1; end < len(data); end++ {
		switch c := data[end]; {
		case c == '"':
			return end + 1, true
		case c < ' ':
			return end, false
		case c == '\\':
			if end, ok = escape(data, end+1); !ok {
				return end, false
			}
		}
	}
	return end, false
}

// escape checks what follows a backslash; end is its last byte.
func escape(data []byte, at int) (end int, ok bool) {
	switch byteAt(data, at) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at, true
	case 'u':
		for i := range 4 {
			if !hex(byteAt(data, at+1+i)) {
				return at + 1 + i, false
			}
		}
		return at + 4, true
	}
	return at, false
}

func hex(c byte) bool {
	return c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'f'
}

func number(data []byte, at int) (end int, ok bool) {
	if byteAt(data, at) == '-' {
		at++
	}
	if byteAt(data, at) == '0' {
		at++
	} else if at, ok = digits(data, at); !ok {
		return at, false
	}
	if byteAt(data, at) == '.' {
		if at, ok = digits(data, at+1); !ok {
			return at, false
		}
	}
	if byteAt(data, at)|' ' == 'e' {
		at++
		if c := byteAt(data, at); c == '+' || c == '-' {
			at++
		}
		if at, ok = digits(data, at); !ok {
			return at, false
		}
	}
	return at, true
}

// digits steps over at least one.
func digits(data []byte, at int) (end int, ok bool) {
	for end = at; end < len(data) && data[end] >= '0' && data[end] <= '9'; end++ {
	}
	return end, end > at
}
