package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// The protocol library and the sidecar log through loggers that they were
// given: the global ones belong to the program that embeds them.
func TestNobodyLogsThroughTheGlobalLogger(t *testing.T) {
	files := 0
	for _, root := range []string{"../../runtime", "../../sidecar"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			for _, use := range globalLogging(t, path) {
				t.Errorf("%s: %s", path, use)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("only %d files looked at", files)
	}
}

// globalLogging returns what a file takes from the global loggers.
func globalLogging(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, spec := range file.Imports {
		if spec.Path.Value == `"log"` {
			out = append(out, "imports log")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == "slog" {
			switch sel.Sel.Name {
			case "Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "LogAttrs":
				out = append(out, "slog."+sel.Sel.Name)
			}
		}
		return true
	})
	return out
}
