package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
)

// words are what no file may contain, and why. The expressions are written so
// that they do not match themselves.
var words = []struct {
	what   *regexp.Regexp
	inCode bool // in source files only; documents may speak of it
	why    string
}{
	{
		// Not inside a longer path or a URL.
		what: regexp.MustCompile(`(^|[^-\w./$})*])/(root|work|Users)/\w`),
		why:  "is a path of one machine",
	},
	{
		what: regexp.MustCompile(`\.\./shared\b`),
		why:  "is a path outside the repository",
	},
	{
		what:   regexp.MustCompile(`\b(TO[D]O|FIX[M]E|XX[X])\b`),
		inCode: true,
		why:    "belongs into an issue",
	},
}

func checkWords(t *tree) []problem {
	var out []problem
	for i := range t.files {
		f := &t.files[i]
		if isLockFile(f.path) {
			continue
		}
		for n, line := range bytes.Split(f.data, []byte("\n")) {
			for _, w := range words {
				if w.inCode && !isSource(f.path) {
					continue
				}
				if m := w.what.Find(line); m != nil {
					out = append(out, problem{f.path, n + 1, fmt.Sprintf("%q %s", bytes.TrimSpace(m), w.why)})
				}
			}
		}
	}
	return out
}

func isLockFile(name string) bool {
	return slices.Contains([]string{"go.sum", "package-lock.json"}, path.Base(name))
}
