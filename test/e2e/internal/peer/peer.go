// Package peer runs the foreign clients of test/peers as the programs that
// they are, and reads the JSON events they print.
package peer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Names of the clients.
const (
	TypeScript1       = "v1"        // 2025-11-25
	TypeScript2       = "v2"        // probes, then 2026-07-28
	TypeScript2Legacy = "v2-legacy" // 2025-11-25
)

// Event is one line of a client's output.
type Event struct {
	Event    string
	Revision string
	Session  bool
	Server   struct{ Name, Version string }
	Names    []string
	Seen     struct{ Elicitation, Sampling, Roots int }
	Result   struct {
		IsError bool
		Content []struct{ Type, Text string }
	}
	Calls, Failed, Connections int
	Ms                         int
	OK                         bool
	Error                      string
}

// Text is the first text of the result.
func (e Event) Text() string {
	for _, c := range e.Result.Content {
		if c.Type == "text" {
			return c.Text
		}
	}
	return ""
}

// TypeScript runs client.mjs to its end and returns what it printed.
func TypeScript(t testing.TB, root, sdk, url string, args ...string) []Event {
	t.Helper()
	events, err := Try(t.Context(), root, sdk, url, args...)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// Try is TypeScript for a run that may fail.
func Try(ctx context.Context, root, sdk, url string, args ...string) ([]Event, error) {
	cmd, err := command(ctx, root, sdk, url, args)
	if err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("TypeScript client %s %v: %w: %s %s", sdk, args, err, errs.String(), out.String())
	}
	return parse(out.Bytes())
}

// Running is a client that goes on until it is stopped.
type Running struct {
	cmd    *exec.Cmd
	out    bytes.Buffer
	errs   bytes.Buffer
	first  chan struct{}
	exited chan error
}

// Start runs a client in the background and returns when it has connected. It
// ends with the test.
func Start(t testing.TB, root, sdk, url string, args ...string) *Running {
	t.Helper()
	cmd, err := command(context.WithoutCancel(t.Context()), root, sdk, url, args)
	if err != nil {
		t.Fatal(err)
	}
	r := &Running{cmd: cmd, first: make(chan struct{}), exited: make(chan error, 1)}
	cmd.Stderr = &r.errs
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		sc := bufio.NewScanner(pipe)
		sc.Buffer(nil, 16<<20)
		for n := 0; sc.Scan(); n++ {
			r.out.Write(append(sc.Bytes(), '\n'))
			if n == 0 {
				close(r.first)
			}
		}
		r.exited <- cmd.Wait()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	select {
	case <-r.first:
	case err := <-r.exited:
		t.Fatalf("TypeScript client %s %v: %v: %s", sdk, args, err, r.errs.String())
	case <-time.After(time.Minute):
		t.Fatalf("TypeScript client %s %v: not connected after a minute", sdk, args)
	}
	return r
}

// Stop tells the client to end and returns all that it printed.
func (r *Running) Stop(t testing.TB) []Event {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.exited:
		if err != nil {
			t.Fatalf("TypeScript client: %v: %s", err, r.errs.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("TypeScript client does not end")
	}
	events, err := parse(r.out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func command(ctx context.Context, root, sdk, url string, args []string) (*exec.Cmd, error) {
	dir := filepath.Join(root, "test", "peers", "clients")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		return nil, fmt.Errorf("the TypeScript clients are not installed, run `make peers-clients`: %w", err)
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join(dir, "client.mjs"), "--sdk", sdk, "--url", url}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

func parse(out []byte) ([]Event, error) {
	var events []Event
	for line := range strings.Lines(string(out)) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("a line of the client that is no event: %q: %w", line, err)
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("the client printed nothing")
	}
	return events, nil
}
