// Package program builds this repository's programs for tests that run them as
// real processes: the binaries that ship, never a package called in their
// place.
package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Build compiles the main package in dir, relative to the module's root, as it
// is shipped (static, stripped), and returns the binary's path. The binary
// lives as long as the test.
func Build(tb testing.TB, dir string) string {
	tb.Helper()
	out, err := BuildInto(tb.TempDir(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// BuildInto is Build for a TestMain: the binary goes into the folder into.
func BuildInto(into, dir string) (string, error) {
	root := Root()
	if err := touch(filepath.Join(root, dir)); err != nil {
		return "", err
	}
	out := filepath.Join(into, filepath.Base(dir))
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", out, "./"+dir)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTOOLCHAIN=local")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", &buildError{dir, string(text), err}
	}
	return out, nil
}

type buildError struct {
	dir, output string
	err         error
}

func (e *buildError) Error() string {
	return "go build ./" + e.dir + ": " + e.err.Error() + "\n" + e.output
}

func (e *buildError) Unwrap() error { return e.err }

// Root is the module's root folder.
func Root() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
}

// touch opens the program's sources. The test cache knows what this process
// read, not what its children did, and would take an old result for a new
// program; packages below it are known by import where a test imports them.
func touch(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}
