package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes a repository with one test file and the given table.
func tree(t *testing.T, table, tests string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{"test/rules.tsv": table, "a/a_test.go": tests} {
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

// The rule numbers below are split so that this file's own comments name none.
const tests = "package a\n\nimport \"testing\"\n\n// TestOne proves W" + "1.5.\nfunc TestOne(t *testing.T) {\n\t// R" + "3\n}\n"

func TestRulesCheck(t *testing.T) {
	for name, test := range map[string]struct{ table, want string }{
		"a named test that exists passes":       {"W1.5\tMUST\ttested\ta.TestOne\nR3\tMUST\ttested\ta.TestOne\n", ""},
		"a named test that is gone fails":       {"W1.5\tMUST\ttested\ta.TestTwo\nR3\tMUST\tlater\t\n", "test a.TestTwo does not exist"},
		"tested without a test fails":           {"W1.5\tMUST\ttested\t\nR3\tMUST\tlater\t\n", "no test is named"},
		"a rule that only a test knows fails":   {"W1.5\tMUST\tlater\t\n", "R3: named by a.TestOne"},
		"an unknown state fails":                {"W1.5\tMUST\tsoon\t\nR3\tMUST\tlater\t\n", `unknown state "soon"`},
		"a line with too few columns fails":     {"W1.5\tMUST\n", "2 columns"},
		"a rule that is listed twice fails":     {"W1.5\tMUST\tlater\t\nW1.5\tMUST\tlater\t\nR3\tMUST\tlater\t\n", "listed twice"},
		"comments at the top of the file stand": {"# rules\nW1.5\tMUST\tlater\t\nR3\tMUST\tlater\t\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(tree(t, test.table, tests), false)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestRulesWriteFillsAndForgets(t *testing.T) {
	root := tree(t, "# head\nW1.5\tMUST\tlater\t\nR3\tMUST\tlater\t\nW9.9\tMUST\ttested\ta.TestGone\n", tests)
	if err := run(root, true); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "test/rules.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := "# head\nW1.5\tMUST\ttested\ta.TestOne\nR3\tMUST\ttested\ta.TestOne\nW9.9\tMUST\tlater\t\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
