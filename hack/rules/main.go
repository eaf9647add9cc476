// Command rules keeps test/rules.tsv true: which protocol rule is proven by
// which test, or why not.
//
//	rules          check the file against the tests, print the counts
//	rules -write   fill the tests column from the comments in the tests
//
// A test proves a rule when its doc comment or a comment inside it names the
// rule (W16.3, B7.4, R3, P16, O2, C12). The columns are rule, level, state and
// tests or reason, separated by tabs; the states are those of package-level
// table states. The check fails when a named test does not exist, when a
// tested rule names none, and when a test names a rule that the file lacks.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	write := flag.Bool("write", false, "rewrite the tests column from the comments in the tests")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := run(*root, *write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, write bool) error {
	path := filepath.Join(root, "test", "rules.tsv")
	table, err := readTable(path)
	if err != nil {
		return err
	}
	found, err := scanTests(root)
	if err != nil {
		return err
	}
	if write {
		table.fill(found)
		if err := table.save(path); err != nil {
			return err
		}
	}
	if err := table.check(found); err != nil {
		return err
	}
	fmt.Println(table.summary())
	return nil
}
