package ndjson

import "strconv"

// ExcerptBytes is how much of a line that is no message is shown (R5).
const ExcerptBytes = 200

// Excerpt returns the beginning of a line as printable ASCII, for logs: control
// characters cannot move a terminal, and the length is bounded (C07).
func Excerpt(line []byte) string {
	more := ""
	if len(line) > ExcerptBytes {
		line, more = line[:ExcerptBytes], "..."
	}
	quoted := strconv.QuoteToASCII(string(line))
	return quoted[1:len(quoted)-1] + more
}
