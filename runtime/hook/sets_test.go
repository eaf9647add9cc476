package hook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
)

// TestSetsAreComplete reads the constants from the source, so that a new one
// cannot be left out of its list.
func TestSetsAreComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "hook.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]int{}
	listed := map[string]map[string]bool{
		"Reason": {}, "StreamKind": {}, "StreamEnd": {}, "EndReason": {}, "Replay": {}, "Drop": {},
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || len(spec.Values) != 1 {
			return true
		}
		name, isIdent := spec.Type.(*ast.Ident)
		value, isLiteral := spec.Values[0].(*ast.BasicLit)
		if !isIdent || !isLiteral {
			return true
		}
		text, err := strconv.Unquote(value.Value)
		if err != nil {
			t.Fatal(err)
		}
		if all := listed[name.Name]; all != nil {
			declared[name.Name]++
			all[text] = false
		}
		return true
	})
	mark(listed["Reason"], Reasons())
	mark(listed["StreamKind"], StreamKinds())
	mark(listed["StreamEnd"], StreamEnds())
	mark(listed["EndReason"], EndReasons())
	mark(listed["Replay"], Replays())
	mark(listed["Drop"], Drops())
	for kind, all := range listed {
		if declared[kind] < 2 {
			t.Errorf("found %d constants of type %s", declared[kind], kind)
		}
		for value, is := range all {
			if !is {
				t.Errorf("%s %q is not in its list", kind, value)
			}
		}
	}
}

func mark[T ~string](set map[string]bool, list []T) {
	for _, v := range list {
		set[string(v)] = true
	}
}
