package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constant is a declared condition type or reason with its doc.
type constant struct{ name, value, doc string }

func constants(t *testing.T, file, prefix string) []constant {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []constant
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			if !strings.HasPrefix(v.Names[0].Name, prefix) {
				t.Errorf("%s: %s does not begin with %s", file, v.Names[0].Name, prefix)
				continue
			}
			value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, constant{v.Names[0].Name, value, strings.Join(strings.Fields(v.Doc.Text()), " ")})
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s declares no constants", file)
	}
	return out
}

// Condition types and reasons are API: named like their value, unique, and
// documented with what they mean.
func TestConditionsAndReasonsAreDocumented(t *testing.T) {
	form := regexp.MustCompile(`^[A-Z][A-Za-z]{1,62}$`)
	for file, prefix := range map[string]string{"conditions.go": "Condition", "reasons.go": "Reason"} {
		seen := map[string]bool{}
		for _, c := range constants(t, file, prefix) {
			if c.name != prefix+c.value || !form.MatchString(c.value) {
				t.Errorf("%s = %q: name and value differ, or it is not CamelCase", c.name, c.value)
			}
			if seen[c.value] {
				t.Errorf("%s = %q: there are two", c.name, c.value)
			}
			seen[c.value] = true
			what, found := strings.CutPrefix(c.doc, c.name)
			if !found || len(what) < 20 {
				t.Errorf("%s: its doc %q must begin with the name and say when it is set and what to do", c.name, c.doc)
			}
		}
	}
}

func TestEveryConditionTypeIsRequiredOrAdvisory(t *testing.T) {
	var declared []string
	for _, c := range constants(t, "conditions.go", "Condition") {
		declared = append(declared, c.value)
	}
	listed := slices.Concat(RequiredConditions(), AdvisoryConditions())
	slices.Sort(declared)
	slices.Sort(listed)
	if !slices.Equal(declared, listed) {
		t.Errorf("declared %v, listed %v", declared, listed)
	}
}

// The docs of conditions name reasons; a reason that was renamed must not
// linger there.
func TestDocsOfConditionsNameReasonsThatExist(t *testing.T) {
	source, err := os.ReadFile("conditions.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range constants(t, "reasons.go", "Reason") {
		known[c.name] = true
	}
	named := regexp.MustCompile(`\bReason[A-Z]\w+`).FindAllString(string(source), -1)
	if len(named) == 0 {
		t.Error("no condition names a reason")
	}
	for _, name := range named {
		if !known[name] {
			t.Errorf("conditions.go names %s, which is not in reasons.go", name)
		}
	}
}
