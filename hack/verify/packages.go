package main

import (
	"bytes"
	"go/format"
	"strings"
)

// minDoc is the least that a package doc can say: what the package owns takes a
// sentence.
const minDoc = 40

// checkPackageDocs wants one doc comment a package that says what it owns. A
// package of generated files only, or of tests beside a package, needs none.
func checkPackageDocs(t *tree) []problem {
	type pkg struct{ first, doc string }
	packages := map[string]*pkg{}
	var order []string
	for i := range t.files {
		f := &t.files[i]
		if !f.isGo() || f.generated {
			continue
		}
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		if packages[f.dir()] == nil {
			packages[f.dir()] = &pkg{first: f.path}
			order = append(order, f.dir())
		}
		p := packages[f.dir()]
		doc := strings.TrimSpace(f.syntax.Doc.Text())
		// A main's doc begins with what it is, all others with their name.
		if name == "main" && doc != "" || strings.HasPrefix(doc, "Package "+name+" ") {
			p.doc += doc
		}
	}
	var out []problem
	for _, dir := range order {
		if p := packages[dir]; len(p.doc) < minDoc {
			out = append(out, problem{p.first, 0, "no file of the package has a doc comment that says what it owns"})
		}
	}
	return out
}

func checkFormat(t *tree) []problem {
	var out []problem
	for i := range t.files {
		f := &t.files[i]
		if !f.isGo() {
			continue
		}
		formatted, err := format.Source(f.data)
		switch {
		case err != nil:
			out = append(out, problem{f.path, 0, err.Error()})
		case !bytes.Equal(formatted, f.data):
			out = append(out, problem{f.path, 0, "is not as gofmt writes it"})
		}
	}
	return out
}
