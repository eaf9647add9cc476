//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/peer"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/wire"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// The main job: a sample is applied, becomes Ready, and foreign clients of both
// eras list and call.
func TestCoreStdioServerAnswersForeignClients(t *testing.T) {
	w, ns := begin(t)
	s := w.Sample(t, ns, "everything.yaml")
	w.Kubectl(t, "wait", "--for=condition=Ready", "mcpserver/everything", "-n", ns, "--timeout=180s")
	w.AwaitReady(t, s)
	url := w.Endpoint(t, s)

	cases := map[string]struct{ sdk, revision string }{
		"TypeScript SDK v1":              {peer.TypeScript1, wire.Legacy},
		"TypeScript SDK v2, negotiating": {peer.TypeScript2, wire.Modern},
		"TypeScript SDK v2, legacy":      {peer.TypeScript2Legacy, wire.Legacy},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := peer.TypeScript(t, testkit.Root(t), c.sdk, url, "list")
			if got[0].Revision != c.revision || got[0].Session != (c.revision == wire.Legacy) {
				t.Errorf("connected with %s, session %v", got[0].Revision, got[0].Session)
			}
			for _, want := range []string{"echo", "get-env", "trigger-long-running-operation"} {
				if !slices.Contains(got[1].Names, want) {
					t.Errorf("tools %v lack %s", got[1].Names, want)
				}
			}
			got = peer.TypeScript(t, testkit.Root(t), c.sdk, url, "call", "echo", `{"message":"grüß dich"}`)
			if text := got[1].Text(); text != "Echo: grüß dich" {
				t.Errorf("echo said %q", text)
			}
		})
	}
	t.Run("progress reaches the client", func(t *testing.T) {
		got := peer.TypeScript(t, testkit.Root(t), peer.TypeScript1, url, "call", "trigger-long-running-operation", `{"duration":1,"steps":4}`)
		if !strings.Contains(got[1].Text(), "completed") {
			t.Errorf("%+v", got[1])
		}
	})
	t.Run("elicitation and sampling reach a legacy client", func(t *testing.T) {
		got := peer.TypeScript(t, testkit.Root(t), peer.TypeScript1, url, "call", "trigger-elicitation-request")
		if got[1].Seen.Elicitation != 1 || !strings.Contains(got[1].Text(), "provided the requested information") {
			t.Errorf("elicitation: %+v", got[1])
		}
		got = peer.TypeScript(t, testkit.Root(t), peer.TypeScript1, url, "call", "trigger-sampling-request", `{"prompt":"hi","maxTokens":10}`)
		if got[1].Seen.Sampling != 1 || !strings.Contains(got[1].Text(), "sampled by the peer client") {
			t.Errorf("sampling: %+v", got[1])
		}
	})
	t.Run("status and columns say what was found", func(t *testing.T) {
		line := w.Kubectl(t, "get", "mcpservers", "-n", ns, "--no-headers")
		for _, want := range []string{"everything", "True", "Ready", "Stdio", "http://everything." + ns} {
			if !strings.Contains(line, want) {
				t.Errorf("kubectl get mcpservers: %q lacks %q", line, want)
			}
		}
		server := w.Kubectl(t, "get", "mcpserver/everything", "-n", ns, "-o", "jsonpath={.status.server.name} {.status.server.protocolVersion}")
		if server != "mcp-servers/everything "+wire.Legacy {
			t.Errorf("status.server: %q", server)
		}
	})
	t.Run("describe tells the story by events, explain by the CRD", func(t *testing.T) {
		story := w.Kubectl(t, "describe", "mcpserver/everything", "-n", ns)
		_, events, found := strings.Cut(story, "Events:")
		if !found || strings.Contains(events, "<none>") || !strings.Contains(events, "Ready") {
			t.Errorf("events: %q", events)
		}
		for _, field := range []string{"spec", "spec.workload.stdio", "status.conditions"} {
			text := w.Kubectl(t, "explain", "mcpserver."+field)
			if !strings.Contains(text, "DESCRIPTION:") || strings.Contains(text, "<no description>") || strings.Contains(text, "<empty>") {
				t.Errorf("kubectl explain mcpserver.%s: %s", field, text)
			}
		}
	})
	t.Run("the plugin lists, calls and refuses", func(t *testing.T) { plugin(t, w, s) })
}

// C42
func plugin(t *testing.T, w *world.World, s *v1alpha1.McpServer) {
	at := []string{"-n", s.Namespace}
	out, errs, code := w.Plugin(t, append(at, "call", s.Name, "echo", `{"message":"hi"}`)...)
	if code != 0 || out != "Echo: hi\n" {
		t.Errorf("call: code %d, stdout %q, stderr %q", code, out, errs)
	}
	out, errs, code = w.Plugin(t, append(at, "tools", s.Name)...)
	if code != 0 || !strings.Contains(out, "get-structured-content") {
		t.Errorf("tools: code %d, stdout %q, stderr %q", code, out, errs)
	}
	out, errs, code = w.Plugin(t, append(at, "call", s.Name, "no_such_tool", "{}")...)
	if code == 0 || out != "" || errs == "" {
		t.Errorf("an unknown tool: code %d, stdout %q, stderr %q", code, out, errs)
	}
	out, errs, code = w.Plugin(t, append(at, "check", s.Name)...)
	if code != 0 || !strings.Contains(out, wire.Legacy) {
		t.Errorf("check: code %d, stdout %q, stderr %q", code, out, errs)
	}
	out, errs, code = w.Plugin(t, append(at, "contract", s.Name)...)
	if code != 0 || !strings.Contains(out, "maxConcurrentCalls") {
		t.Errorf("contract: code %d, stdout %q, stderr %q", code, out, errs)
	}
}

func TestCoreHTTPServerAnswersForeignClients(t *testing.T) {
	w, ns := begin(t)
	s := w.Sample(t, ns, "gosdk.yaml", func(s *v1alpha1.McpServer) { *s.Spec.Replicas = 1 })
	w.AwaitReady(t, s)
	url := w.Endpoint(t, s)
	for _, sdk := range []string{peer.TypeScript1, peer.TypeScript2} {
		if text := peer.TypeScript(t, testkit.Root(t), sdk, url, "call", "echo", `{"message":"hi"}`)[1].Text(); text != "hi" {
			t.Errorf("TypeScript %s: echo said %q", sdk, text)
		}
	}
	for _, sdk := range []string{"go-sdk", "mcp-go"} {
		out, errs, err := world.Command(t.Context(), filepath.Join(testkit.Root(t), "bin", "peer"), "-sdk", sdk, "-url", url, "call", "add", `{"a":2,"b":3}`)
		if err != nil || !strings.Contains(out, `"sum":5`) {
			t.Errorf("%s: %v: %s %s", sdk, err, out, errs)
		}
	}
}

func TestCoreFilesystemServerSeesItsVolumes(t *testing.T) {
	w, ns := begin(t)
	s := w.Sample(t, ns, "filesystem.yaml")
	w.AwaitReady(t, s)
	c := wire.New(w.Endpoint(t, s))
	defer c.Close()
	text, err := c.Text(t.Context(), "read_text_file", `{"path":"/data/library/numbers.csv"}`)
	if err != nil || !strings.Contains(text, "3,9") {
		t.Errorf("the ConfigMap's file: %q, %v", text, err)
	}
	if _, err := c.Text(t.Context(), "write_file", `{"path":"/data/work/note.txt","content":"kept"}`); err != nil {
		t.Errorf("a file in the empty volume: %v", err)
	}
	if text, err := c.Text(t.Context(), "read_text_file", `{"path":"/data/work/note.txt"}`); err != nil || text != "kept" {
		t.Errorf("read back: %q, %v", text, err)
	}
	if _, err := c.Text(t.Context(), "write_file", `{"path":"/data/library/note.txt","content":"x"}`); err == nil {
		t.Error("wrote to a read-only volume")
	}
}
