package dataplane

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Where pipes cannot be passed everything is as where they can, to clients, to
// the workload and to whoever looks for what is left. P11
func TestAWorkloadWhoseStreamsAreRelayed(t *testing.T) {
	t.Parallel()
	s := config.DefaultStdio()
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.agent = launch(t, "mcp-agent", nil, "run", "--relay", "--socket", p.path("agent.sock"), "--", binary("testworkload"), "serve")
	p.startSidecar()
	p.ready()
	c := p.legacy("2025-11-25")
	long := strings.Repeat("x", 300_000) // more than both windows and the pipe
	for _, text := range []string{"hello", long} {
		if got := c.must(c.call("echo", `{"text":"`+text+`"}`)).text(); got != text {
			t.Errorf("%d bytes came back, want %d", len(got), len(text))
		}
	}
	m := p.client(modern)
	if got := m.must(m.call("echo", `{"text":"modern"}`)).text(); got != "modern" {
		t.Errorf("a modern client got %q", got)
	}
	if n := p.metric("fairlead_process_streams_total", `way="relay"`); n < 2 {
		t.Errorf("%v processes were relayed", n)
	}
	if n := p.metric("fairlead_process_streams_total", `way="descriptors"`); n != 0 {
		t.Errorf("%v processes were passed", n)
	}
	if !p.status().Workload.Relayed {
		t.Error("the status does not say it")
	}
	for who, log := range map[string]string{"sidecar": p.sidecar.log.String(), "agent": p.agent.log.String()} {
		if strings.Count(log, "over the agent's socket")+strings.Count(log, "relays the streams") != 1 {
			t.Errorf("the %s does not say it once:\n%s", who, log)
		}
	}
	p.sidecar.signal(syscall.SIGTERM)
	if code := p.sidecar.exit(); code != 0 {
		t.Errorf("the sidecar exits with %d", code)
	}
	eventually(t, "the agent has no children", func() bool { return len(children(p.agent)) == 0 })
}

// The sidecar, or its agent, is killed while a call is under way. P11
func TestNothingOutlivesASidecarThatRelays(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(sidecar *process){
		"killed":           func(sidecar *process) { sidecar.kill() },
		"interrupted":      func(sidecar *process) { sidecar.signal(syscall.SIGINT); sidecar.exit() },
		"its agent killed": func(sidecar *process) { _ = syscall.Kill(children(sidecar)[0], syscall.SIGKILL); sidecar.exit() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sidecar, p := bad(t, "--test-relay", "--stdio", "--", binary("badworkload"), "stdio", "leaves-children")
			agents := children(sidecar)
			pids := bred(t, p.legacy("2025-11-25"))
			servers := childrenOf(t, agents[0])
			if len(servers) == 0 {
				t.Fatal("the agent has no children")
			}
			end(sidecar)
			gone(t, append(append(pids, servers...), agents...))
		})
	}
}

// What a workload does wrong with its streams comes to the same. B3.8
func TestBadWorkloadsWhoseStreamsAreRelayed(t *testing.T) {
	t.Parallel()
	for _, m := range badModes {
		if m.transport != "stdio" || m.modern || !slices.Contains([]string{"garbage", "long-line", "dies", "deaf", "stops"}, m.mode) {
			continue
		}
		t.Run(m.mode, func(t *testing.T) {
			t.Parallel()
			m.relayed = true
			m.try(t, "2025-11-25", modern)
		})
	}
}
