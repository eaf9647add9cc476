//go:build peers

package interop

import (
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// served is our server over HTTP until the end of the test.
func served(t *testing.T) string {
	t.Helper()
	return around(t, inProcess(t, tune{}), counts{}, nil).url
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
	// resumes: it comes back for a stream that broke.
	resumes bool
	// wordless: it gives a call up by closing the connection, which says nothing
	// in its revision; the call goes on.
	wordless bool
	// deadlineMs: it does not notice that a stream broke, and waits for this
	// deadline of its own.
	deadlineMs int
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
		"TypeScript v1":           {argv: npm("v1"), revision: mcp.Revision20251125, progress: 3, resumes: true},
		"TypeScript v2, legacy":   {argv: npm("v2-legacy"), revision: mcp.Revision20251125, progress: 3, resumes: true},
		"TypeScript v2, auto":     {argv: npm("v2"), revision: mcp.Revision20260728, progress: 3, deadlineMs: 3000},
		"go-sdk":                  {argv: goPeer("go-sdk"), revision: mcp.Revision20260728, progress: 1, silent: true},
		"go-sdk, 2025-11-25":      {argv: goPeer("go-sdk", "-revision", mcp.Revision20251125), revision: mcp.Revision20251125, progress: 1, silent: true, resumes: true},
		"go-sdk, 2025-06-18":      {argv: goPeer("go-sdk", "-revision", mcp.Revision20250618), revision: mcp.Revision20250618, progress: 1, silent: true},
		"go-sdk, 2024-11-05":      {argv: goPeer("go-sdk", "-revision", mcp.Revision20241105), revision: mcp.Revision20241105, progress: 1, silent: true},
		"mcp-go":                  {argv: goPeer("mcp-go"), revision: mcp.Revision20251125, progress: 3, wordless: true}, // asked for its newest, it takes the one with sessions
		"mcp-go, 2025-11-25":      {argv: goPeer("mcp-go", "-revision", mcp.Revision20251125), revision: mcp.Revision20251125, progress: 3},
		"TypeScript v1, HTTP+SSE": {argv: npm("v1-sse"), revision: mcp.Revision20251125, progress: 1},
		"go-sdk, HTTP+SSE":        {argv: goPeer("go-sdk", "-sse"), revision: mcp.Revision20251125, progress: 1, silent: true},
		"mcp-go, HTTP+SSE":        {argv: goPeer("mcp-go", "-sse"), revision: mcp.Revision20251125, progress: 1, mute: true},
		"mcp-go, 2025-03-26":      {argv: goPeer("mcp-go", "-revision", mcp.Revision20250326), revision: mcp.Revision20250326, progress: 3},
	}
}

// asking are tools of the conformance workload that ask the client something,
// and which kind that is.
var asking = map[string]string{
	"test_elicitation":                         "elicitation",
	"test_sampling":                            "sampling",
	"test_input_required_result_list_roots":    "roots",
	"test_input_required_result_multi_round":   "elicitation",
	"test_elicitation_sep1034_defaults":        "elicitation",
	"test_input_required_result_request_state": "elicitation",
}

// answers lets every tool ask that the client can be asked by.
func (f foreignClient) answers(c *talker) {
	c.t.Helper()
	args := map[string]map[string]any{"test_sampling": {"prompt": "hi"}, "test_elicitation": {"message": "hi"}}
	for tool, kind := range asking {
		if f.mute || kind == "elicitation" && f.revision < mcp.Revision20250618 {
			continue // the revision has none
		}
		e := c.calls(tool, args[tool], "")
		if e.Seen[kind] == 0 && !(f.silent && kind == "roots") {
			c.t.Errorf("%s: asked %v, %s", tool, e.Seen, e.Result)
		}
	}
}

// Foreign clients find out how our server talks and use it, all at one URL.
func TestForeignClientsAgainstOurServer(t *testing.T) {
	t.Parallel()
	url := served(t)
	for name, f := range clients() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := f.talks(t, url)
			if names := c.ask(order{Do: "tools"}).Names; !slices.Contains(names, "test_simple_text") {
				t.Errorf("tools %v", names)
			}
			c.plain()
			if e := c.calls("test_tool_with_progress", nil, ""); e.Progress < f.progress {
				t.Errorf("progress: %d notifications, %s", e.Progress, e.Result)
			}
			f.answers(c)
			c.bye()
		})
	}
}
