//go:build peers

package interop

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// inspector runs the Inspector's command line, one request a run, and returns
// what it says.
func inspector(t *testing.T, url string, args ...string) string {
	t.Helper()
	argv := append([]string{module("inspector/clients/launcher/build/index.js"), "--cli", url, "--transport", "http", "--connect-timeout", fmt.Sprint(patience.Milliseconds())}, args...)
	cmd := exec.CommandContext(bounded(t), node(), argv...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	return string(out)
}

// The Inspector's command line, strict.
func TestInspectorAgainstOurServer(t *testing.T) {
	t.Parallel()
	url := served(t)
	for what, want := range map[string]string{
		"tools/list --strict":                          "test_simple_text",
		"tools/call --tool-name test_simple_text":      "This is a simple text response",
		"resources/list":                               "test://static-text",
		"prompts/list":                                 "test_simple_prompt",
		"prompts/get --prompt-name test_simple_prompt": "messages",
		"resources/read --uri test://static-text":      "contents",
	} {
		if out := inspector(t, url, append([]string{"--method"}, strings.Fields(what)...)...); !strings.Contains(out, want) {
			t.Errorf("%s: %s", what, out)
		}
	}
}

// P33.15: the Inspector whose GET and DELETE never arrive.
func TestInspectorWithoutGetAndDelete(t *testing.T) {
	t.Parallel()
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := stages(t, p, tune{}, func(next http.Handler) http.Handler {
				return refuse(http.MethodGet, http.StatusMethodNotAllowed)(refuse(http.MethodDelete, http.StatusMethodNotAllowed)(next))
			})
			if out := inspector(t, s.url, "--method", "tools/call", "--tool-name", "test_simple_text"); !strings.Contains(out, "This is a simple text response") {
				t.Error(out)
			}
		})
	}
}

// inspect is the Inspector's row: it makes one request a run, so that nothing
// can be cancelled, asked or resumed; it says nothing of progress, and never
// ends its session.
func inspect(t *testing.T, url string, b backing) {
	t.Helper()
	t.Log("lacks elicitation, sampling, roots, progress, cancel, resume: one request a run")
	if out := inspector(t, url, "--method", "tools/list"); !strings.Contains(out, b.tools.echo.name) {
		t.Errorf("tools: %s", out)
	}
	args := []string{"--method", "tools/call", "--tool-name", b.tools.echo.name}
	for _, arg := range b.inspector {
		args = append(args, "--tool-arg", arg)
	}
	if out := inspector(t, url, args...); !strings.Contains(out, b.tools.echo.want) {
		t.Errorf("call: %s", out)
	}
	if b.lacks[listing] != "" {
		return
	}
	if out := inspector(t, url, "--method", "prompts/list"); !strings.Contains(out, b.prompt) {
		t.Errorf("prompts: %s", out)
	}
	if out := inspector(t, url, "--method", "resources/read", "--uri", b.resource); !strings.Contains(out, "contents") {
		t.Errorf("resource: %s", out)
	}
}
