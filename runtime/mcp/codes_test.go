package mcp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W2.1: the standard codes mean what JSON-RPC says.
func TestStandardCodes(t *testing.T) {
	for got, want := range map[int]int{
		jsonrpc.CodeParse: -32700, jsonrpc.CodeInvalidRequest: -32600, jsonrpc.CodeMethodNotFound: -32601,
		jsonrpc.CodeInvalidParams: -32602, jsonrpc.CodeInternal: -32603,
	} {
		if got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

// W2.2, W2.4, W2.7: no code of ours lies in the ranges that are reserved,
// other than those that the specification defines.
func TestNoCodeOfOursLiesInAReservedRange(t *testing.T) {
	defined := map[int64]bool{
		jsonrpc.CodeParse: true, jsonrpc.CodeInvalidRequest: true, jsonrpc.CodeMethodNotFound: true,
		jsonrpc.CodeInvalidParams: true, jsonrpc.CodeInternal: true,
		mcp.CodeResourceNotFound: true, mcp.CodeURLElicitation: true,
		mcp.CodeHeaderMismatch: true, mcp.CodeMissingCapability: true, mcp.CodeUnsupportedRevision: true,
	}
	seen := 0
	for _, root := range []string{"../../runtime", "../../sidecar"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, code := range negativeNumbers(t, path) {
				if code >= -32768 && code <= -32000 {
					seen++
					if !defined[code] {
						t.Errorf("%s: %d", path, code)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < len(defined)/2 {
		t.Errorf("only %d codes found: the search is broken", seen)
	}
}

// negativeNumbers returns the negative integers that are written in a file,
// other than the ends of ranges: those are only compared with.
func negativeNumbers(t *testing.T, path string) []int64 {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	ast.Inspect(file, func(n ast.Node) bool {
		if compare, ok := n.(*ast.BinaryExpr); ok {
			return compare.Op != token.LEQ && compare.Op != token.GEQ && compare.Op != token.LSS && compare.Op != token.GTR
		}
		minus, ok := n.(*ast.UnaryExpr)
		if !ok || minus.Op != token.SUB {
			return true
		}
		if lit, ok := minus.X.(*ast.BasicLit); ok && lit.Kind == token.INT {
			if v, err := strconv.ParseInt(lit.Value, 0, 64); err == nil {
				out = append(out, -v)
			}
		}
		return true
	})
	return out
}
