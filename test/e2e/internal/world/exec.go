package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/test/testkit"
)

// Kubectl runs kubectl and returns what it printed; a failure fails the test.
func (w *World) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	out, errs, err := Command(t.Context(), "kubectl", args...)
	if err != nil {
		t.Fatalf("kubectl %v: %v: %s", args, err, errs)
	}
	return out
}

// Plugin runs our kubectl plugin and returns how it ended.
func (w *World) Plugin(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	out, errs, err := Command(t.Context(), filepath.Join(testkit.Root(t), "bin", "kubectl-mcp"), args...)
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("kubectl-mcp %v: %v (make build)", args, err)
		}
		code = exit.ExitCode()
	}
	return out, errs, code
}

// Command runs a program to its end.
func Command(ctx context.Context, name string, args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if err != nil && errs.Len() == 0 {
		fmt.Fprint(&errs, err)
	}
	return out.String(), errs.String(), err
}
