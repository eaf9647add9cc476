package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// module is the path of the root module; "~/" stands for it in tables.
const module = "github.com/fairlead-dev/fairlead"

// problem is one violation. line is 0 when it is about the whole file.
type problem struct {
	path string
	line int
	text string
}

func (p problem) String() string {
	if p.line == 0 {
		return p.path + ": " + p.text
	}
	return fmt.Sprintf("%s:%d: %s", p.path, p.line, p.text)
}

// tree is every file of the repository that somebody wrote, in memory.
type tree struct {
	files []file
}

// file is one of them. Of a Go file, syntax has the package clause with its
// doc and the imports.
type file struct {
	path      string
	data      []byte
	generated bool
	syntax    *ast.File
	positions *token.FileSet
}

// generatedMark is the line by which tools know generated Go code.
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func readTree(root fs.FS, paths []string) (*tree, error) {
	t := &tree{}
	slices.Sort(paths)
	for _, name := range slices.Compact(paths) {
		data, err := fs.ReadFile(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 || isTestdata(name) {
			continue // binary, or data whose form is the point
		}
		f := file{path: name, data: data}
		if path.Ext(name) == ".go" {
			f.generated = generatedMark.Match(data)
			f.positions = token.NewFileSet()
			f.syntax, err = parser.ParseFile(f.positions, name, data, parser.ImportsOnly|parser.ParseComments)
			if err != nil {
				return nil, err
			}
		}
		t.files = append(t.files, f)
	}
	return t, nil
}

func isTestdata(name string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), "testdata")
}

func (f *file) isGo() bool   { return f.syntax != nil }
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// dir is the folder, which for a Go file of the root module is also its
// package's path below the module's.
func (f *file) dir() string { return path.Dir(f.path) }

// imported is one import declaration.
type imported struct {
	path string // own packages begin with "~/"
	line int
}

func (f *file) imports() []imported {
	var out []imported
	for _, spec := range f.syntax.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		if rest, own := strings.CutPrefix(p, module+"/"); own {
			p = "~/" + rest
		}
		out = append(out, imported{path: p, line: f.positions.Position(spec.Pos()).Line})
	}
	return out
}

// isStd: packages of the standard library have no dot in their first element.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && first != "~"
}

// within reports whether p is prefix or below it.
func within(p, prefix string) bool {
	return p == prefix || strings.HasPrefix(p, prefix+"/")
}
