package soak

import (
	"fmt"
	"regexp"
	"strconv"
)

// life numbers the conversations of all clients: a client that connects again
// must not get what its last conversation was owed either.
type life uint64

// token makes the nth token of a life. It ends with a letter, so that none is
// the beginning of another.
func (l life) token(n int64) string { return fmt.Sprintf("tk%dn%dk", uint64(l), n) }

var tokens = regexp.MustCompile(`tk(\d+)n\d+k`)

// foreign returns a token in text that is not of this life, "" if there is none.
func (l life) foreign(text []byte) string {
	for _, m := range tokens.FindAllSubmatch(text, -1) {
		if n, err := strconv.ParseUint(string(m[1]), 10, 64); err != nil || life(n) != l {
			return string(m[0])
		}
	}
	return ""
}
