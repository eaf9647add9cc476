// Command verify checks the house rules that no linter knows: who may import
// whom, package docs, formatting, file sizes, words that must not be here. It
// reads the files of the tree itself, so that no build cache can hide a
// change, and needs nothing but git to know which files there are.
//
//	go run ./hack/verify
//
// prints one line a problem, `path:line: what is wrong`, and exits 1 if there
// is any.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) == 2 {
		root = os.Args[1]
	}
	problems, err := run(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		fmt.Fprintf(os.Stderr, "verify: %d problems\n", len(problems))
		os.Exit(1)
	}
}

// run lists what git has or would add in root, and checks it.
func run(root string) ([]problem, error) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", root, err)
	}
	t, err := readTree(os.DirFS(root), strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"))
	if err != nil {
		return nil, err
	}
	return t.check(), nil
}

// check runs every check and sorts what they found.
func (t *tree) check() []problem {
	var out []problem
	for _, check := range []func(*tree) []problem{
		checkImports, checkLayers, checkPackageDocs, checkFormat, checkSizes, checkWords,
	} {
		out = append(out, check(t)...)
	}
	slices.SortFunc(out, func(a, b problem) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		if a.line != b.line {
			return a.line - b.line
		}
		return strings.Compare(a.text, b.text)
	})
	return out
}
