// Package program builds this repository's programs for tests that run them as
// real processes: the binaries that ship, never a package called in their
// place.
package program

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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
	root, err := root()
	if err != nil {
		return "", err
	}
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

// root is the folder of go.mod. Tests run in their package's folder, so it is
// one of those above.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("program: no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
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
