package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
)

// maxLines is where a source file must be split, or say why not.
const maxLines = 500

// longBecause in the first lines of a file is that reason.
var longBecause = regexp.MustCompile(`(?m)^\s*(//|#|--) Longer than 500 lines: \S.{15,}$`)

// checkSizes bounds the files that people read as code. Documents, data and
// generated files may be as long as they are.
func checkSizes(t *tree) []problem {
	var out []problem
	for i := range t.files {
		f := &t.files[i]
		if f.generated || !isSource(f.path) || within(f.dir(), "config/crd") {
			continue
		}
		head := f.data[:min(len(f.data), 4096)]
		if n := bytes.Count(f.data, []byte("\n")); n > maxLines && !longBecause.Match(head) {
			out = append(out, problem{f.path, 0, fmt.Sprintf(
				"has %d lines, %d are allowed: split it, or say why not at its top: `// Longer than 500 lines: …`", n, maxLines)})
		}
	}
	return out
}

func isSource(name string) bool {
	return slices.Contains([]string{".go", ".sh", ".mk", ".js", ".mjs", ".ts", ".yaml", ".yml"}, path.Ext(name)) ||
		slices.Contains([]string{"Makefile", "Dockerfile"}, path.Base(name))
}
