package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Root returns the folder that holds the root go.mod. Tests run in the folder
// of their package, so it is one of the folders above; a compiled-in path would
// be wrong under -trimpath.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("testkit: no go.mod above the working directory")
		}
		dir = parent
	}
}
