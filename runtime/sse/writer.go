package sse

import (
	"bytes"
	"strconv"
)

// AppendEvent appends one event to dst. data must not hold CR or LF: a JSON
// text goes through strictjson.OneLine first; should it hold one all the same,
// the text is continued in further data lines, so that no byte of it can
// become a field of its own. name and id hold visible ASCII only; one that does
// not is left out. Every field is written with a colon (P9).
func AppendEvent(dst []byte, name, id string, data []byte) []byte {
	if id != "" && visible(id) {
		dst = append(dst, "id: "...)
		dst = append(dst, id...)
		dst = append(dst, '\n')
	}
	if name != "" && visible(name) {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for {
		end := bytes.IndexAny(data, "\r\n")
		if end < 0 {
			break
		}
		dst = append(dst, "data: "...)
		dst = append(dst, data[:end]...)
		dst = append(dst, '\n')
		if data[end] == '\r' && end+1 < len(data) && data[end+1] == '\n' {
			end++
		}
		data = data[end+1:]
	}
	dst = append(dst, "data: "...)
	dst = append(dst, data...)
	return append(dst, "\n\n"...)
}

// AppendComment appends a comment block, which keeps a stream alive and is
// never seen by readers. Line ends in text are dropped.
func AppendComment(dst []byte, text string) []byte {
	dst = append(dst, ": "...)
	for i := range len(text) {
		if text[i] != '\r' && text[i] != '\n' {
			dst = append(dst, text[i])
		}
	}
	return append(dst, "\n\n"...)
}

// AppendRetry begins an event with the time that the client is to wait before
// it reconnects, in milliseconds; AppendEvent goes on with it. A block of its
// own would be one more event to whoever counts them.
func AppendRetry(dst []byte, ms int64) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, ms, 10)
	return append(dst, '\n')
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
