//go:build peers

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// told is a foreign client that waits to be told to go on.
type told struct {
	t     *testing.T
	out   *bufio.Scanner
	stdin io.WriteCloser
}

// waits starts a foreign client with a command that waits for a line.
func (f foreignClient) waits(t *testing.T, url string, args ...string) *told {
	t.Helper()
	argv := append(f.argv(url), args...)
	cmd := exec.CommandContext(bounded(t), argv[0], argv[1:]...)
	cmd.Stderr = words(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	return &told{t, lines, in}
}

// next is its next event.
func (c *told) next(name string) (e event) {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("it ended before %s", name)
	}
	if err := json.Unmarshal(c.out.Bytes(), &e); err != nil || e.Event != name {
		c.t.Fatalf("said %s, want %s", c.out.Bytes(), name)
	}
	return e
}

func (c *told) goOn() {
	c.t.Helper()
	if _, err := io.WriteString(c.stdin, "go\n"); err != nil {
		c.t.Fatal(err)
	}
}

// rough are clients with sessions, which hold a GET.
func rough() map[string]foreignClient {
	out := map[string]foreignClient{}
	for _, name := range []string{"TypeScript v1", "TypeScript v2, legacy", "go-sdk, 2025-11-25"} {
		out[name] = clients()[name]
	}
	return out
}

// P3: a GET that is closed again and again, without traffic, leaves a client
// usable.
func TestStreamsClosedManyTimes(t *testing.T) {
	for name, f := range rough() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, seen := servedWatched(t)
			url, cutter := through(t, server)
			c := f.waits(t, url, "patient", "test_simple_text")
			c.next("connected")
			ctx := bounded(t)
			for range 20 {
				eventually(ctx, t, "the stream is open", func() bool { return seen.gets.Load() == 1 })
				cutter.cut()
				eventually(ctx, t, "the stream is closed", func() bool { return seen.gets.Load() == 0 })
			}
			c.goOn()
			if e := c.next("result"); !strings.Contains(string(e.Result), "This is a simple text response") {
				t.Errorf("%s", e.Result)
			}
			if n := seen.opened.Load(); n < 20 {
				t.Errorf("%d streams", n)
			}
		})
	}
}

// P16: calls that are cancelled when their stream was primed leave no stream
// behind.
func TestCancelledCallsLeaveNothingBehind(t *testing.T) {
	const count = 50
	all := rough()
	all["TypeScript v2, auto"] = clients()["TypeScript v2, auto"]
	all["go-sdk"] = clients()["go-sdk"]
	all["mcp-go"] = clients()["mcp-go"]
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, seen := servedWatched(t)
			c := f.waits(t, server, "cancel", "wait", "50")
			c.next("connected")
			var e struct{ Count int }
			if c.out.Scan(); json.Unmarshal(c.out.Bytes(), &e) != nil || e.Count != count {
				t.Fatalf("%s", c.out.Bytes())
			}
			// Long enough for a resumption of what was cancelled: TypeScript
			// tries after a second, and is told then that there is nothing.
			time.Sleep(3 * time.Second)
			if n := seen.gets.Load(); n > 1 {
				t.Errorf("%d streams are open", n)
			}
			c.goOn()
		})
	}
}

// W9.6, P2, SEP-1699: a call whose connection breaks is taken up again by our
// client, where the server keeps events.
func TestOurClientResumes(t *testing.T) {
	for name, tc := range map[string]struct{ args []string }{
		"go-sdk": {[]string{"-sdk", "go-sdk", "-over", "http"}},
		"mcp-go": {[]string{"-sdk", "mcp-go", "-over", "http"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, cutter := through(t, started(t, fromRoot(goServer), tc.args...))
			our(t, url, cutter, call{"count", map[string]any{"n": 200}, "counted 200"})
		})
	}
	t.Run("our own server", func(t *testing.T) {
		t.Parallel()
		url, cutter := through(t, served(t))
		our(t, url, cutter, call{"test_tool_with_progress", nil, "Done"})
		our(t, url, nil, call{"test_reconnection", nil, ""})
	})
}

// our calls a tool and cuts the connection at its first progress.
func our(t *testing.T, url string, cutter *cutter, one call) {
	ctx := bounded(t)
	var resumed atomic.Int64
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := client.Connect(ctx, client.Options{
		Server:   client.HTTP{URL: url, Client: &http.Client{Transport: transport}},
		Revision: mcp.Revision20251125,
		Observer: client.Observer{Resumed: func() { resumed.Add(1) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	last := 0.0
	r, err := c.CallTool(ctx, one.name, one.args, client.OnProgress(func(p client.Progress) {
		if last == 0 && cutter != nil {
			cutter.cut()
		}
		last = p.Progress
	}))
	if err != nil || !strings.Contains(r.Text(), one.want) {
		t.Fatalf("%v, %v after %v", r, err, last)
	}
	if resumed.Load() == 0 {
		t.Error("nothing was taken up again")
	}
	transport.CloseIdleConnections() // some were cut; whether a call on one of them ran nobody could know
	one.check(ctx, t, c, "once more")
}

// The same for clients of others against our server.
func TestForeignClientsResume(t *testing.T) {
	for name, f := range rough() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, seen := servedWatched(t)
			e := f.spoken(t, server, "call", "test_reconnection", "{}")[1]
			if strings.Contains(string(e.Result), `"isError":true`) || len(e.Result) == 0 {
				t.Errorf("%s", e.Result)
			}
			if n := seen.opened.Load(); n < 2 {
				t.Errorf("%d GETs: nothing was resumed", n)
			}
		})
	}
}

func eventually(ctx context.Context, t *testing.T, what string, f func() bool) {
	t.Helper()
	for !f() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
