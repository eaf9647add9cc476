package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Reasons of conditions that are as they should be: there is nothing to do.
var wanted = map[string]bool{
	"Accepted": true, "ResolvedRefs": true, "Programmed": true, "Available": true, "Ready": true,
}

func TestEveryReasonHasARemedy(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/v1alpha1/reasons.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := remedies()
	seen := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		seen[reason] = true
		if known[reason] == "" && !wanted[reason] {
			t.Errorf("reason %s has no remedy in advice.go", reason)
		}
		return true
	})
	if len(seen) < 20 {
		t.Fatalf("only %d reasons found: this test reads the wrong file", len(seen))
	}
	for reason := range known {
		if !seen[reason] {
			t.Errorf("a remedy for %s, which is no reason", reason)
		}
	}
}
