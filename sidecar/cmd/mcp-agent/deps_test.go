package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fairlead-dev/fairlead/"

// The agent runs inside other people's images and is copied for every pod, so
// it stays small: these packages of ours, x/sys/unix and the standard library.
// The sources are read here, not by a `go list` that the test cache would not
// see through.
func TestTheAgentIsMadeOfFewPackages(t *testing.T) {
	allowed := []string{
		"sidecar/cmd/mcp-agent",
		"sidecar/agent",
		"sidecar/agent/internal/relay",
		"sidecar/agent/internal/wire",
		"sidecar/agent/supervisor",
		"sidecar/hook",
		"sidecar/socket",
	}
	root := filepath.Join("..", "..", "..")
	seen := map[string]bool{}
	queue := []string{"sidecar/cmd/mcp-agent"}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if !slices.Contains(allowed, dir) {
			t.Errorf("%s is not allowed in the agent", dir)
		}
		for _, path := range importsOf(t, filepath.Join(root, dir)) {
			first, _, _ := strings.Cut(path, "/")
			switch {
			case strings.HasPrefix(path, module):
				queue = append(queue, strings.TrimPrefix(path, module))
			case path == "golang.org/x/sys/unix", !strings.Contains(first, "."):
			default:
				t.Errorf("%s imports %s", dir, path)
			}
		}
	}
	for _, dir := range allowed {
		if !seen[dir] {
			t.Errorf("%s is allowed but not used: take it off the list", dir)
		}
	}
}

func importsOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	return paths
}
