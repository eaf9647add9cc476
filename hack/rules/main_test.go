package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files writes a repository.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range texts {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The rule numbers below are split so that this file's own comments and
// strings prove none.
const (
	one   = "W" + "1.5"
	two   = "R" + "3"
	three = "W" + "9.9"
)

const tests = "package a\n\nimport \"testing\"\n\n// TestOne proves " + one + ".\nfunc TestOne(t *testing.T) {\n\t// " + two + "\n\tt.Run(\"a sub test\", nil)\n}\n"

const text = "## W1. Base\n- **" + one + "** `MUST` `[A-E]` `S` text ‹x›\n## W9. Late\n- **" + three + "** `SHOULD` `[E]` `S,C` text\n"

// enoughBroken has one rule that is named and, so that they are enough, more
// that no test stands for.
var enoughBroken = func() string {
	lines := one + "\ta\tTestOne\n"
	for i := range fewestBroken - 1 {
		lines += fmt.Sprintf("X%d\tsidecar/a\t\n", i)
	}
	return lines
}()

const decisions = "- **" + two + " Title.** text\n"

// tree writes a repository with two documents, one test file and the given
// tables; a line of the rules is given as state and detail.
func tree(t *testing.T, oneLine, twoLine, threeLine, defects string) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("# rules\n")
	for _, line := range []string{one + "\tS\tMUST\t" + oneLine, two + "\t-\tMUST\t" + twoLine, three + "\tS,C\tSHOULD\t" + threeLine} {
		table.WriteString(line + "\n")
	}
	return files(t, map[string]string{
		"test/rules.tsv": table.String(), "test/defects.tsv": defects, "a/a_test.go": tests,
		"docs/protocol/a.md": text, "docs/protocol/b.md": decisions, "test/broken.tsv": enoughBroken,
	})
}

const (
	goodOne   = "tested\ta.TestOne"
	goodTwo   = "tested\ta.TestOne"
	goodThree = "open\t"
)

func TestTheStateOfARuleIsChecked(t *testing.T) {
	for name, test := range map[string]struct{ one, two, three, want string }{
		"all is well":                                  {goodOne, goodTwo, goodThree, ""},
		"a subtest that exists":                        {"tested\ta.TestOne/a_sub_test", goodTwo, goodThree, ""},
		"a subtest that is gone":                       {"tested\ta.TestOne/another", goodTwo, goodThree, "no string in a. names the subtest"},
		"a test that is gone":                          {"tested\ta.TestTwo", goodTwo, goodThree, "test a.TestTwo does not exist"},
		"tested without a test":                        {"tested\t", goodTwo, goodThree, "no test is named"},
		"a MUST that is open":                          {"open\t", goodTwo, goodThree, "MUST without a test or a reason"},
		"a MUST of the wire that waits":                {"later\tbridge", goodTwo, goodThree, "cannot wait"},
		"a decision that waits for a part":             {goodOne, "later\trouting", goodThree, ""},
		"a decision that waits for nothing":            {goodOne, "later\tsomeday", goodThree, `waits for "someday"`},
		"a reason without words":                       {"not-ours\t", goodTwo, goodThree, "a reason is missing"},
		"a duty of people":                             {"human\tthe author knows", goodTwo, goodThree, ""},
		"a MUST as an option":                          {"option\t", goodTwo, goodThree, "MUST is no option"},
		"a demand as a fact":                           {goodOne, goodTwo, "fact\t", "SHOULD demands something"},
		"an unknown state":                             {"soon\t", goodTwo, goodThree, `unknown state "soon"`},
		"a level that differs from the text, by extra": {"tested\ta.TestOne\textra", goodTwo, goodThree, "6 columns"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, run(tree(t, test.one, test.two, test.three, ""), false, io.Discard), test.want)
		})
	}
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestTableAndTextAreTheSameSet(t *testing.T) {
	good := func() map[string]string {
		return map[string]string{
			"test/rules.tsv":   one + "\tS\tMUST\ttested\ta.TestOne\n" + two + "\t-\tMUST\ttested\ta.TestOne\n",
			"test/defects.tsv": "", "a/a_test.go": tests, "test/broken.tsv": enoughBroken,
			"docs/protocol/a.md": "- **" + one + "** `MUST` `[A-E]` `S` text\n" + decisions,
		}
	}
	for name, test := range map[string]struct{ path, text, want string }{
		"nothing changed":                           {"docs/protocol/x.md", "prose", ""},
		"a rule that the table lacks":               {"docs/protocol/x.md", "- **" + three + "** `MAY` `[A]` `S` text\n", three + ": in docs/, but not in test/rules.tsv"},
		"a rule that stands twice":                  {"docs/protocol/x.md", decisions, "a second time"},
		"a head that cannot be read":                {"docs/protocol/x.md", "- **" + three + "** MAY text\n", "reads like a rule"},
		"a rule that the text lacks":                {"docs/protocol/a.md", decisions, one + ": no such rule in docs/"},
		"another level than the text":               {"docs/protocol/a.md", "- **" + one + "** `MAY` `[A-E]` `S` text\n" + decisions, "the text says S MAY"},
		"another role than the text":                {"docs/protocol/a.md", "- **" + one + "** `MUST` `[A-E]` `I` text\n" + decisions, "the text says I MUST"},
		"a test that names an unknown rule":         {"b/b_test.go", strings.ReplaceAll(tests, one, three), three + ": named by b.TestOne"},
		"a rule that is listed twice":               {"test/rules.tsv", strings.Repeat(one+"\tS\tMUST\ttested\ta.TestOne\n", 2), "listed twice"},
		"a table without its last column":           {"test/rules.tsv", one + "\tS\tMUST\n", "3 columns"},
		"a broken rule that its test does not name": {"test/broken.tsv", enoughBroken + three + "\ta\tTestOne\n", "a.TestOne does not name it"},
		"a defect with its test":                    {"test/defects.tsv", "# where\nx 1\tloses it\ta.TestOne\n", ""},
		"a defect whose test is gone":               {"test/defects.tsv", "x 1\tloses it\ta.TestTwo\n", "x 1: test a.TestTwo does not exist"},
		"a defect without a test":                   {"test/defects.tsv", "x 1\tloses it\t\n", "no test is named"},
		"a defect without a word what it is":        {"test/defects.tsv", "x 1\ta.TestOne\n", "want where, defect and tests"},
	} {
		t.Run(name, func(t *testing.T) {
			texts := good()
			texts[test.path] = test.text
			expect(t, run(files(t, texts), false, io.Discard), test.want)
		})
	}
}

func TestRulesOfTablesAndSuitesBelongToTheTestsThatUseThem(t *testing.T) {
	root := files(t, map[string]string{
		"a/a_test.go": "package a\n\nimport (\n\t\"testing\"\n\n\t\"" + modulePath + "suite\"\n)\n\n// " + one + "\nvar cases = []int{1}\n\n// " + three + " is what this helper speaks of.\nfunc helper() {}\n\nfunc TestTable(t *testing.T) { _ = cases; helper() }\n\nfunc TestSuite(t *testing.T) { suite.Run(t) }\n",
		"suite/s.go":  "package suite\n\nimport \"testing\"\n\nfunc Run(t *testing.T) { part(t) }\n\nfunc part(t *testing.T) {\n\t// " + two + "\n}\n",
		"b/b.go":      "package b\n\n// " + three + "\nfunc TestNothing() {}\n",
	})
	found, err := scanTests(root)
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]string{one: "a.TestTable", two: "a.TestSuite", three: ""} {
		if got := strings.Join(found.byRule[rule], " "); got != want {
			t.Errorf("%s: tests %q, want %q", rule, got, want)
		}
	}
}

func TestWriteFillsAndForgets(t *testing.T) {
	root := tree(t, "open\t", "open\t", "tested\ta.TestGone", "")
	if err := run(root, true, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "test/rules.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := "# rules\n" + one + "\tS\tMUST\t" + goodOne + "\n" + two + "\t-\tMUST\t" + goodTwo + "\n" + three + "\tS,C\tSHOULD\t" + goodThree + "\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBreakableRules(t *testing.T) {
	line := one + "\ta\tTestOne\n"
	for name, test := range map[string]struct{ text, want string }{
		"enough of them":     {"# head\n" + enoughBroken, ""},
		"one of them often":  {strings.Repeat(line, fewestBroken), "1 rules can be broken"},
		"too few of them":    {line, "1 rules can be broken, want at least"},
		"none of the bridge": {strings.ReplaceAll(enoughBroken, "sidecar/", "runtime/"), "0 rules of the bridge"},
		"a column too few":   {one + "\ta\n", "2 columns"},
		"none at all":        {"", "columns"},
		"a file of comments": {"# head\n", "0 rules can be broken"},
	} {
		t.Run(name, func(t *testing.T) {
			root := files(t, map[string]string{"broken.tsv": test.text})
			_, err := readBreakable(filepath.Join(root, "broken.tsv"))
			expect(t, err, test.want)
		})
	}
}
