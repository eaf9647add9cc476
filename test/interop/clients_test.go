//go:build peers

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/workload"
)

// served is our server over HTTP until the end of the test.
func served(t *testing.T) string {
	t.Helper()
	url, _ := servedWatched(t)
	return url
}

// servedWatched also tells what passed. The tool `wait` is new: it reports
// progress once and waits until it is cancelled.
func servedWatched(t *testing.T) (string, *watch) {
	t.Helper()
	w, err := workload.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Server.AddTool(server.Tool{Name: "wait"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		if err := c.Progress(1, 2, "waiting"); err != nil {
			return nil, err
		}
		<-c.Done()
		return nil, context.Cause(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := &watch{Handler: w.Front(nil)}
	web := httptest.NewServer(record.Handler(seen, log(t)))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if n := seen.changed.Load(); n > 0 {
			t.Errorf("%d answers changed the session's id", n) // P10
		}
	})
	return web.URL + "/mcp", seen
}

// event is one line of a foreign client.
type event struct {
	Event, Revision string
	Names           []string
	Progress        int
	Result          json.RawMessage
	Seen            map[string]int
}

// client is a program of others that speaks to a server at an address.
type foreignClient struct {
	argv     func(url string) []string
	revision string
	// progress is how many of three notifications it hears at least: SDKs
	// that hand them out beside the result lose what comes with it.
	progress int
	// silent: roots are given by the SDK itself, uncounted.
	silent bool
	// mute: it cannot answer over this transport.
	mute bool
}

func npm(sdk string) func(string) []string {
	return func(url string) []string {
		return []string{node(), fromRoot(npmClient + "/client.mjs"), "--sdk", sdk, "--url", url}
	}
}

func goPeer(sdk string, more ...string) func(string) []string {
	return func(url string) []string {
		return append([]string{fromRoot(goClient), "-sdk", sdk, "-url", url, "-timeout", patience.String(), "-capable"}, more...)
	}
}

func clients() map[string]foreignClient {
	return map[string]foreignClient{
		"TypeScript v1":           {argv: npm("v1"), revision: mcp.Revision20251125, progress: 3},
		"TypeScript v2, legacy":   {argv: npm("v2-legacy"), revision: mcp.Revision20251125, progress: 3},
		"TypeScript v2, auto":     {argv: npm("v2"), revision: mcp.Revision20260728, progress: 3},
		"go-sdk":                  {argv: goPeer("go-sdk"), revision: mcp.Revision20260728, progress: 1, silent: true},
		"go-sdk, 2025-11-25":      {argv: goPeer("go-sdk", "-revision", mcp.Revision20251125), revision: mcp.Revision20251125, progress: 1, silent: true},
		"go-sdk, 2025-06-18":      {argv: goPeer("go-sdk", "-revision", mcp.Revision20250618), revision: mcp.Revision20250618, progress: 1, silent: true},
		"go-sdk, 2024-11-05":      {argv: goPeer("go-sdk", "-revision", mcp.Revision20241105), revision: mcp.Revision20241105, progress: 1, silent: true},
		"mcp-go":                  {argv: goPeer("mcp-go"), revision: mcp.Revision20251125, progress: 3}, // asked for its newest, it takes the one with sessions
		"mcp-go, 2025-11-25":      {argv: goPeer("mcp-go", "-revision", mcp.Revision20251125), revision: mcp.Revision20251125, progress: 3},
		"TypeScript v1, HTTP+SSE": {argv: npm("v1-sse"), revision: mcp.Revision20251125, progress: 1},
		"go-sdk, HTTP+SSE":        {argv: goPeer("go-sdk", "-sse"), revision: mcp.Revision20251125, progress: 1, silent: true},
		"mcp-go, HTTP+SSE":        {argv: goPeer("mcp-go", "-sse"), revision: mcp.Revision20251125, progress: 1, mute: true},
		"mcp-go, 2025-03-26":      {argv: goPeer("mcp-go", "-revision", mcp.Revision20250326), revision: mcp.Revision20250326, progress: 3},
	}
}

// spoken runs a foreign client and returns what it says.
func (f foreignClient) spoken(t *testing.T, url string, args ...string) []event {
	t.Helper()
	argv := append(f.argv(url), args...)
	cmd := exec.CommandContext(bounded(t), argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	var events []event
	for line := range bytes.Lines(out) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, e)
	}
	if len(events) != 2 || events[0].Event != "connected" {
		t.Fatalf("said %s", out)
	}
	if events[0].Revision != f.revision {
		t.Errorf("speaks %s, want %s", events[0].Revision, f.revision)
	}
	return events
}

// Foreign clients find out how our server talks and use it, all at one URL.
func TestForeignClientsAgainstOurServer(t *testing.T) {
	url := served(t)
	for name, f := range clients() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := f.spoken(t, url, "list")[1].Names
			if !strings.Contains(strings.Join(names, " "), "test_simple_text") {
				t.Errorf("tools %v", names)
			}
			args := map[string]string{"test_sampling": `{"prompt":"hi"}`, "test_elicitation": `{"message":"hi"}`}
			result := func(tool string) event {
				in := args[tool]
				if in == "" {
					in = "{}"
				}
				return f.spoken(t, url, "call", tool, in)[1]
			}
			if e := result("test_simple_text"); !strings.Contains(string(e.Result), "This is a simple text response") {
				t.Errorf("echo: %s", e.Result)
			}
			if e := result("test_tool_with_progress"); e.Progress < f.progress {
				t.Errorf("progress: %d notifications, %s", e.Progress, e.Result)
			}
			if f.mute {
				return
			}
			for tool, kind := range map[string]string{
				"test_elicitation":                         "elicitation",
				"test_sampling":                            "sampling",
				"test_input_required_result_list_roots":    "roots",
				"test_input_required_result_multi_round":   "elicitation",
				"test_elicitation_sep1034_defaults":        "elicitation",
				"test_input_required_result_request_state": "elicitation",
			} {
				if kind == "elicitation" && f.revision < mcp.Revision20250618 {
					continue // the revision has none
				}
				e := result(tool)
				if e.Seen[kind] == 0 && !(f.silent && kind == "roots") || strings.Contains(string(e.Result), `"isError":true`) {
					t.Errorf("%s: asked %v, %s", tool, e.Seen, e.Result)
				}
			}
		})
	}
}

// The Inspector's command line, strict.
func TestInspectorAgainstOurServer(t *testing.T) {
	url := served(t)
	run := func(args ...string) string {
		argv := append([]string{module("inspector/clients/launcher/build/index.js"), "--cli"}, args...)
		cmd := exec.CommandContext(bounded(t), node(), argv...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %v\n%s%s", args, err, out, stderr.Bytes())
		}
		return string(out)
	}
	if out := run(url, "--transport", "http", "--method", "tools/list", "--strict"); !strings.Contains(out, "test_simple_text") {
		t.Error(out)
	}
	if out := run(url, "--transport", "http", "--method", "tools/call", "--tool-name", "test_simple_text"); !strings.Contains(out, "This is a simple text response") {
		t.Error(out)
	}
	if out := run(url, "--transport", "http", "--method", "resources/list"); !strings.Contains(out, "test://static-text") {
		t.Error(out)
	}
	if out := run(url, "--transport", "http", "--method", "prompts/list"); !strings.Contains(out, "test_simple_prompt") {
		t.Error(out)
	}
}
