package strictjson

import "bytes"

// Values are stepped over here without being checked again: members and
// elements are read of text that Scan has taken. Of any other text it is only
// promised that nothing is read twice or beyond its end.

// skipSpace returns the offset of the next byte that is not whitespace.
func skipSpace(data []byte, at int) int {
	for at < len(data) && isSpace(data[at]) {
		at++
	}
	return at
}

// skipString returns the offset after the string that begins at at.
func skipString(data []byte, at int) (end int, ok bool) {
	for end = at + 1; ; {
		n := bytes.IndexByte(data[end:], '"')
		if n < 0 {
			return len(data), false
		}
		end += n + 1
		escapes := 0
		for i := end - 2; i > at && data[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 0 {
			return end, true
		}
	}
}

// skipValue returns the offset after the value that begins at at.
func skipValue(data []byte, at int) (end int, ok bool) {
	if at >= len(data) {
		return at, false
	}
	switch data[at] {
	case '"':
		return skipString(data, at)
	case '{', '[':
		return skipNested(data, at)
	}
	for end = at; end < len(data); end++ {
		switch data[end] {
		case ',', '}', ']', ':', '"', '{', '[', ' ', '\t', '\r', '\n':
			return end, end > at
		}
	}
	return end, true
}

// skipNested returns the offset after the object or array that begins at at.
func skipNested(data []byte, at int) (end int, ok bool) {
	depth := 0
	for end = at; end < len(data); {
		switch data[end] {
		case '"':
			if end, ok = skipString(data, end); !ok {
				return end, false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return end + 1, true
			}
		}
		end++
	}
	return end, false
}

// open returns the offset of the first thing in the object or array that data
// is.
func open(data []byte, brace byte) (at int, ok bool) {
	at = skipSpace(data, 0)
	if at == len(data) || data[at] != brace {
		return at, false
	}
	return skipSpace(data, at+1), true
}

// next steps over the comma after the value that ended at end. done says that
// the closing brace stands there, ok that either does.
func next(data []byte, end int, brace byte) (at int, done, ok bool) {
	at = skipSpace(data, end)
	switch {
	case at == len(data):
		return at, false, false
	case data[at] == brace:
		return at, true, true
	case data[at] != ',':
		return at, false, false
	}
	return skipSpace(data, at+1), false, true
}
