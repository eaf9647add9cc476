package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// agentBinary is the program as it ships.
var agentBinary, childBinary string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "container" {
		fmt.Fprintln(os.Stderr, enterContainer(os.Args[2], os.Args[3:]))
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "mcp-agent")
	if err == nil {
		err = os.Chmod(dir, 0o755) // one test runs it as another user
	}
	if err == nil {
		agentBinary, err = program.BuildInto(dir, "sidecar/cmd/mcp-agent")
	}
	if err == nil {
		childBinary, err = program.BuildInto(dir, "sidecar/agent/testdata/child")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func TestTheBinaryIsStaticAndSmall(t *testing.T) { // D7
	f, err := elf.Open(agentBinary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it needs a dynamic loader")
		}
	}
	info, err := os.Stat(agentBinary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 5<<20 {
		t.Errorf("%d bytes, want at most 5 MiB", info.Size())
	}
}

// runAgent runs the binary and returns exit status and stderr.
func runAgent(t *testing.T, args ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), agentBinary, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stderr.String()
}

func TestWrongUseIsSaidWithStatusTwo(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no command":                  {nil, "unknown command \"\""},
		"an unknown command":          {[]string{"serve"}, `unknown command "serve"`},
		"an unknown flag":             {[]string{"run", "--port", "1", "--", "x"}, "not defined: -port"},
		"run without a command":       {[]string{"run", "--socket", "/tmp/x"}, "run needs a COMMAND after --"},
		"run with an empty command":   {[]string{"run", "--", ""}, "run needs a COMMAND after --"},
		"run for no process":          {[]string{"run", "--max-processes", "0", "--", "x"}, "--max-processes must be"},
		"run without a clock":         {[]string{"run", "--termination", "0s", "--", "x"}, "--termination must be"},
		"install without a folder":    {[]string{"install"}, "install needs --to DIR"},
		"install with something more": {[]string{"install", "--to", "/tmp", "x"}, "install needs --to DIR and nothing else"},
		"hook without a kind":         {[]string{"hook", "--deadline", "1s"}, "hook needs `workload` or `sidecar`"},
		"hook of an unknown kind":     {[]string{"hook", "unknown", "--deadline", "1s"}, "hook needs `workload` or `sidecar`"},
		"hook without a deadline":     {[]string{"hook", "sidecar"}, "hook needs --deadline"},
		"hook with something more":    {[]string{"hook", "sidecar", "--deadline", "1s", "x"}, "hook needs `workload` or `sidecar`"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if status := command(tt.args, &stderr); status != exitUsage || !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("status %d: %s", status, &stderr)
			}
		})
	}
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"hook", "workload", "--help"}} {
		var stderr bytes.Buffer
		if status := command(args, &stderr); status != exitOK || stderr.Len() == 0 {
			t.Errorf("%v: status %d: %s", args, status, &stderr)
		}
	}
}

func TestInstallCopiesTheProgramForEveryUser(t *testing.T) { // D7
	dir := t.TempDir()
	installed := filepath.Join(dir, "mcp-agent")
	old := syscall.Umask(0o077) // inherited by the program
	defer syscall.Umask(old)
	for range 2 { // a container that is restarted installs again
		if status, text := runAgent(t, "install", "--to", dir); status != 0 || text != "" {
			t.Fatalf("status %d: %s", status, text)
		}
		want, err := os.ReadFile(agentBinary)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(installed)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("another program, %v", err)
		}
		if info, err := os.Stat(installed); err != nil || info.Mode() != 0o755 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
	// It replaces the name also while the program runs, and itself.
	other := exec.Command(installed, "install", "--to", dir)
	if out, err := other.CombinedOutput(); err != nil {
		t.Errorf("over itself: %v: %s", err, out)
	}
}

func TestInstallSaysWhatIsInItsWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	occupied := t.TempDir()
	if err := os.MkdirAll(filepath.Join(occupied, "mcp-agent", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ dir, want string }{
		"no folder":               {"/no/such/folder", "is the volume mounted there?"},
		"a file":                  {file, "is the volume mounted there?"},
		"a folder under the name": {occupied, "mcp-agent"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := runAgent(t, "install", "--to", tt.dir)
			if status != 1 || !strings.Contains(text, tt.want) {
				t.Errorf("status %d: %s", status, text)
			}
		})
	}
	left, err := fs.Glob(os.DirFS(occupied), ".mcp-agent*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
