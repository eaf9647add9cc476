package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrVersion is wrapped by the error for a file whose version this build does
// not read.
var ErrVersion = errors.New("unsupported version")

// ErrTooLarge is wrapped by the error for a file beyond its size bound, packed
// or unpacked.
var ErrTooLarge = errors.New("too large")

// UnknownFieldError names a member that this version of the format does not
// have. A newer writer must use a newer key instead (O1).
type UnknownFieldError struct{ Field string }

func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("unknown field %q", clip(e.Field))
}

// Problem is one thing wrong with a file: where, as a dotted path, and what.
type Problem struct{ Path, Message string }

// InvalidError lists everything that is wrong with a file, in the order of its
// fields, so that one round of repair is enough.
type InvalidError struct{ Problems []Problem }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Path + ": " + p.Message
	}
	return strings.Join(lines, "; ")
}

// problems collects; its zero value is ready.
type problems []Problem

func (ps *problems) addf(path, format string, args ...any) {
	*ps = append(*ps, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// within notes a number outside lo..hi.
func (ps *problems) within(path string, n, lo, hi int64) {
	if n < lo || n > hi {
		ps.addf(path, "%d is outside %d..%d", n, lo, hi)
	}
}

// oneOf notes a value outside a closed set, in which "" is one not given.
func (ps *problems) oneOf(path, value string, of ...string) {
	if !slices.Contains(of, value) {
		ps.addf(path, "%q is none of %s", clip(value), strings.TrimSuffix(strings.Join(of, ", "), ", "))
	}
}

// revision notes a text that can be no revision; "" is none given.
func (ps *problems) revision(path, r string) {
	if r != "" && !validRevision(r) {
		ps.addf(path, "%q is no revision such as 2026-07-28", clip(r))
	}
}

// validRevision accepts what is spelled like a date.
func validRevision(r string) bool {
	if len(r) != len("2026-07-28") {
		return false
	}
	for i, c := range []byte(r) {
		if dash := i == 4 || i == 7; dash != (c == '-') || !dash && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return &InvalidError{Problems: ps}
}

// clip keeps untrusted text short in messages.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
