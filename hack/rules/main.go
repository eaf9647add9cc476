// Command rules keeps test/rules.tsv and test/defects.tsv true: which rule of
// docs/protocol is proven by which test, or why by none.
//
//	rules          check the files against the text and the tests, print counts
//	rules -quiet   the same without the counts
//	rules -write   fill the tests from the comments in them, take the levels from the text
//	rules -break   break the rules of test/broken.tsv one by one: their tests must fail
//
// A test proves a rule when its doc comment, a comment inside it, or one of a
// table or suite that it uses names the rule (W16.3, B7.4, R3, P16, O2, C12).
// The columns are rule, role, level, state and tests or reason, separated by
// tabs; the states are those of table.go. The check fails when a rule is in
// the text and not in the table or the reverse, when a named test does not
// exist, and when a MUST has neither a test nor a reason.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	write := flag.Bool("write", false, "rewrite the tests column from the comments in the tests")
	quiet := flag.Bool("quiet", false, "print problems only")
	brk := flag.Bool("break", false, "break rules on purpose and expect their tests to fail")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	var out io.Writer = os.Stdout
	if *quiet {
		out = io.Discard
	}
	err := run(*root, *write, out)
	if err == nil && *brk {
		err = breakRules(*root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, write bool, out io.Writer) error {
	path := filepath.Join(root, "test", "rules.tsv")
	t, err := readTable(path)
	if err != nil {
		return err
	}
	book, err := readRulebook(root)
	if err != nil {
		return err
	}
	found, err := scanTests(root)
	if err != nil {
		return err
	}
	if write {
		t.fill(found, book)
		if err := t.save(path); err != nil {
			return err
		}
	}
	defects, err := checkDefects(filepath.Join(root, "test", "defects.tsv"), found)
	list, listErr := readBreakable(filepath.Join(root, "test", "broken.tsv"))
	problems := append(t.check(found), book.check(t)...)
	problems = append(problems, checkBreakable(list, found)...)
	fmt.Fprintf(out, "%s%d defects of others\n", t.summary(book), defects)
	return errors.Join(append(problems, err, listErr)...)
}
