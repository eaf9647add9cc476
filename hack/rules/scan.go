package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// rulePattern finds rule numbers in comments.
var rulePattern = regexp.MustCompile(`\b(?:[WB][0-9]+\.[0-9]+|[RPOC][0-9]+)\b`)

// testIndex is what the test files say: every test there is, and for each rule
// the tests whose comments name it, as "dir.TestName", sorted.
type testIndex struct {
	tests  map[string]bool
	byRule map[string][]string
}

// scanTests parses every _test.go file below root except hidden and vendored
// folders.
func scanTests(root string) (*testIndex, error) {
	index := &testIndex{tests: map[string]bool{}, byRule: map[string][]string{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return index.addFile(root, path)
	})
	for rule, tests := range index.byRule {
		index.byRule[rule] = sortedUnique(tests)
	}
	return index, err
}

func (x *testIndex) addFile(root, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	dir, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !isTestName(fn.Name.Name) {
			continue
		}
		name := filepath.ToSlash(dir) + "." + fn.Name.Name
		x.tests[name] = true
		for _, group := range file.Comments {
			inside := group.Pos() >= fn.Pos() && group.End() <= fn.End()
			if !inside && group != fn.Doc {
				continue
			}
			for _, rule := range rulePattern.FindAllString(group.Text(), -1) {
				x.byRule[rule] = append(x.byRule[rule], name)
			}
		}
	}
	return nil
}

func isTestName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
}

func sortedUnique(in []string) []string {
	sort.Strings(in)
	out := in[:0]
	for i, s := range in {
		if i == 0 || s != in[i-1] {
			out = append(out, s)
		}
	}
	return out
}
