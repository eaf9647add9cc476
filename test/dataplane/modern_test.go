package dataplane

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// modernKinds are pods whose workload speaks 2026-07-28 and nothing else.
var modernKinds = map[string]func(t *testing.T) *pod{
	"stdio": func(t *testing.T) *pod {
		t.Helper()
		s := config.DefaultStdio()
		p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
		p.agent = launch(t, "mcp-agent", nil, "run", "--socket", p.path("agent.sock"), "--", binary("conformance-workload"), "-stdio", "-revisions", "modern")
		p.startSidecar()
		return p
	},
	"http": func(t *testing.T) *pod {
		t.Helper()
		port := freePort(t)
		p := newPod(t, config.Workload{Type: config.WorkloadMCP, MCP: &config.MCP{Port: port, Path: "/mcp"}})
		p.workload = launch(t, "conformance-workload", nil, "-http", "127.0.0.1:"+strconv.Itoa(port), "-revisions", "modern")
		p.startSidecar()
		return p
	},
}

// One URL serves every revision, also when the workload knows the newest only.
func TestAModernWorkloadBehindOneURL(t *testing.T) { // B1.2, B1.4, B2.2, B4.6, P19
	for kind, start := range modernKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			if s := p.status(); s.Workload.Era != "modern" || s.Workload.Revision != modern || s.Workload.Name != "fairlead-conformance" {
				t.Errorf("status %+v", s.Workload)
			}
			for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", modern} {
				c := p.client(revision)
				if revision != modern {
					c = p.legacy(revision)
				}
				if r := c.must(c.call("test_simple_text", `{}`)); !strings.Contains(r.text(), "simple text") {
					t.Errorf("%s: %v", revision, r)
				}
			}
			if kind == "stdio" { // the one that initialize was tried on may take its time to end
				eventually(t, "one process serves five clients", func() bool { return p.status().Counts.Processes == 1 })
			}
		})
	}
}

// The one process of a modern workload is everybody's: when it dies, the pod is
// not ready until there is another.
func TestTheProcessOfAModernWorkloadDies(t *testing.T) { // B3.8, P19
	p := modernKinds["stdio"](t).ready()
	c := p.client(modern)
	session := p.legacy("2025-11-25")
	for range 3 {
		var pids []int
		eventually(t, "there is one process", func() bool { pids = children(p.agent); return len(pids) == 1 })
		_ = syscall.Kill(pids[0], syscall.SIGKILL)
		eventually(t, "another process serves", func() bool {
			now := children(p.agent)
			return len(now) == 1 && now[0] != pids[0] && p.isReady()
		})
		for name, c := range map[string]*client{"modern": c, "a session from before": session} {
			if r := c.must(c.call("test_simple_text", `{}`)); !strings.Contains(r.text(), "simple text") {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}
