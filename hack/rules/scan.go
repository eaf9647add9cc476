package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rulePattern finds rule numbers in comments.
var rulePattern = regexp.MustCompile(`\b(?:[WB][0-9]+\.[0-9]+|[RPOC][0-9]+)\b`)

// testIndex is what the test files say: every test there is, the strings that
// name subtests, and for each rule the tests whose comments name it, as
// "dir.TestName", sorted.
type testIndex struct {
	tests  map[string]bool
	names  map[string]map[string]bool // dir to its string literals
	byRule map[string][]string
	units  map[string]*unit // package-level declarations by "dir.Name"
}

// unit is a package-level declaration that tests may use: a test, a table of
// cases, a helper, a suite that other packages run.
type unit struct {
	test  bool
	rules []string
	uses  []string // other units, as "dir.Name"
	// carries: a table or a suite, whose rules are those of the tests that use
	// it. The comments of a mere helper say nothing about its callers.
	carries bool
}

// scanTests parses the Go files below root except hidden and vendored folders:
// test files, and files that take a *testing.T, which are suites.
func scanTests(root string) (*testIndex, error) {
	x := &testIndex{
		tests: map[string]bool{}, names: map[string]map[string]bool{},
		byRule: map[string][]string{}, units: map[string]*unit{},
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		return x.addFile(root, path)
	})
	if err != nil {
		return nil, err
	}
	x.attribute()
	return x, nil
}

func (x *testIndex) addFile(root, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	isTest := strings.HasSuffix(path, "_test.go")
	imports, testing := importDirs(file)
	if !isTest && !testing {
		return nil
	}
	rel, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	dir := filepath.ToSlash(rel)
	x.addNames(dir, file)
	for _, decl := range file.Decls {
		for _, name := range declared(decl) {
			_, isFunc := decl.(*ast.FuncDecl)
			u := &unit{
				test:    isTest && isTestName(name),
				rules:   rulesIn(file, decl),
				uses:    usesOf(decl, dir, imports),
				carries: !isTest || !isFunc,
			}
			key := dir + "." + name
			if old := x.units[key]; old != nil { // a method of the same name
				u.rules, u.uses, u.test = append(u.rules, old.rules...), append(u.uses, old.uses...), u.test || old.test
			}
			x.units[key] = u
			x.tests[key] = x.tests[key] || u.test
		}
	}
	return nil
}

// addNames remembers the strings of a file: subtests are named by some of them.
func (x *testIndex) addNames(dir string, file *ast.File) {
	if x.names[dir] == nil {
		x.names[dir] = map[string]bool{}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				x.names[dir][strings.ReplaceAll(s, " ", "_")] = true
			}
		}
		return true
	})
}

// attribute gives each rule to the tests that name it themselves, or that use
// a table of cases or a suite that does.
func (x *testIndex) attribute() {
	for key, u := range x.units {
		if !u.test {
			continue
		}
		seen := map[string]bool{}
		x.visit(key, seen)
		for unit := range seen {
			for _, rule := range x.units[unit].rules {
				x.byRule[rule] = append(x.byRule[rule], key)
			}
		}
	}
	for rule, tests := range x.byRule {
		x.byRule[rule] = sortedUnique(tests)
	}
}

func (x *testIndex) visit(key string, seen map[string]bool) {
	u := x.units[key]
	if u == nil || seen[key] {
		return
	}
	seen[key] = true
	for _, use := range u.uses {
		if v := x.units[use]; v != nil && v.carries {
			x.visit(use, seen)
		}
	}
}

// checkAll looks up tests written as "dir.TestName" or "dir.TestName/subtest".
func (x *testIndex) checkAll(tests []string) error {
	if len(tests) == 0 {
		return errors.New("tested, but no test is named")
	}
	var problems []error
	for _, test := range tests {
		name, sub, isSub := strings.Cut(test, "/")
		if i := strings.LastIndex(test, ".Test"); i >= 0 || strings.Contains(test, ".Fuzz") {
			i = max(i, strings.LastIndex(test, ".Fuzz"))
			var tail string
			tail, sub, isSub = strings.Cut(test[i:], "/")
			name = test[:i] + tail
		}
		dir := name[:strings.LastIndex(name, ".")+1]
		switch {
		case !x.tests[name]:
			problems = append(problems, fmt.Errorf("test %s does not exist", test))
		case isSub && !x.names[strings.TrimSuffix(dir, ".")][sub]:
			problems = append(problems, fmt.Errorf("no string in %s names the subtest of %s", dir, test))
		}
	}
	return errors.Join(problems...)
}

func isTestName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
}

func sortedUnique(in []string) []string {
	slices.Sort(in)
	return slices.Compact(in)
}
