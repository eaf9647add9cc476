package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// asWorkload makes the test's program the workload.
const asWorkload = "CONFORMANCE_WORKLOAD_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asWorkload) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func environment() []string { return append(os.Environ(), asWorkload+"=1") }

func TestStdioServesWhatItIsToldTo(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"all revisions: the newest is found": {nil, mcp.Revision20260728},
		"modern":                             {[]string{"-revisions", "modern"}, mcp.Revision20260728},
		"legacy":                             {[]string{"-revisions", "legacy"}, mcp.Revision20251125},
		"one revision":                       {[]string{"-revisions", "2025-03-26"}, mcp.Revision20250326},
	} {
		t.Run(name, func(t *testing.T) {
			recording := filepath.Join(t.TempDir(), "messages.jsonl")
			c, err := client.Connect(t.Context(), client.Options{Server: client.Command{
				Path: program(t), Args: append([]string{"-stdio", "-record", recording}, test.args...), Env: environment(), Stderr: t.Output(),
			}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.CallTool(t.Context(), "test_simple_text", nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Text() != "This is a simple text response for testing." || c.Revision() != test.want {
				t.Errorf("%q in %s, want %s", r.Text(), c.Revision(), test.want)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			lines, err := record.Read(recording)
			if err != nil || len(lines) < 4 {
				t.Errorf("%d messages were recorded: %v", len(lines), err)
			}
		})
	}
}

func TestHTTPEndsWhenToldToWhileClientsListen(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), "-http", "127.0.0.1:0")
	cmd.Env, cmd.Stderr = environment(), t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{mcp.Revision20260728, mcp.Revision20251125} {
		c, err := client.Connect(ctx, client.Options{Server: client.HTTP{URL: strings.TrimSpace(url)}, Revision: revision, Reconnect: client.Reconnect{Never: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Listen(ctx, client.Filter{Tools: true}, func(client.Notification) {}); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func TestUsageIsRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"nothing to serve on":      {},
		"two things to serve on":   {"-stdio", "-http", "127.0.0.1:0"},
		"a word too many":          {"-stdio", "now"},
		"a revision there is not":  {"-stdio", "-revisions", "2025-01-01"},
		"an address there is not":  {"-http", "nowhere"},
		"a file that cannot exist": {"-stdio", "-record", filepath.Join(t.TempDir(), "no", "file")},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), args); err == nil {
				t.Error("it was taken")
			}
		})
	}
}
