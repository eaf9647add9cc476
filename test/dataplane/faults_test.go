package dataplane

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// C07: a banner, a blank line and a line that is almost JSON come first.
func TestGarbageBeforeTheProtocolIsForgiven(t *testing.T) {
	t.Parallel()
	p := stdioPod(t, "--garbage-first").ready()
	c := p.legacy("2025-06-18")
	r := c.must(c.call("echo", `{"text":"x"}`))
	if strings.Contains(r.body, "demo server") {
		t.Errorf("the banner reached the client: %v", r)
	}
	if n := p.metric("fairlead_workload_messages_dropped_total", `reason="noise"`); n < 2 {
		t.Errorf("%v lines counted", n)
	}
	if !strings.Contains(p.sidecar.log.String(), "demo server v1 ready") {
		t.Error("the log does not show the banner")
	}
}

func TestACommandThatExitsIsExplained(t *testing.T) {
	t.Parallel()
	p := stdioPod(t, "--stderr-lines", "3", "--exit", "3")
	w := p.failed(config.ReasonCrashLooping) // the third end makes it so
	if w.ExitCode == nil || *w.ExitCode != 3 || !strings.Contains(strings.Join(w.StderrTail, "\n"), "starting 2") {
		t.Errorf("status %+v", w)
	}
	if code, why := p.get(p.admin, config.PathReadyz); code != 503 || strings.Contains(why, "starting 2") {
		t.Errorf("readyz %d %q: it may not repeat what the workload wrote (O18)", code, why)
	}
	if code, _ := p.get(p.admin, config.PathLivez); code != 200 {
		t.Errorf("livez %d: it may not depend on the workload (O2)", code)
	}
}

func TestACommandThatDoesNotExistIsExplained(t *testing.T) {
	t.Parallel()
	s := config.DefaultStdio()
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.agent = launch(t, "mcp-agent", nil, "run", "--socket", p.path("agent.sock"), "--", "/no/such/command")
	p.startSidecar()
	eventually(t, "the workload fails", func() bool { return p.status().Workload.State == config.WorkloadFailed })
	if p.isReady() {
		t.Error("ready")
	}
}

func TestACommandThatNeverAnswersIsExplained(t *testing.T) {
	t.Parallel()
	s := config.DefaultStdio()
	s.StartupSeconds = 1
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.startAgent("--silent")
	p.startSidecar()
	p.failed(config.ReasonNoAnswer)
	if p.isReady() {
		t.Error("ready")
	}
}

func TestAPortThatNobodyListensOnIsExplainedAndRecovers(t *testing.T) {
	t.Parallel()
	p := newPod(t, config.Workload{Type: config.WorkloadMCP, MCP: &config.MCP{Port: freePort(t), Path: "/mcp"}})
	p.startSidecar()
	p.failed(config.ReasonRefused)
	if p.isReady() {
		t.Error("ready")
	}
	p.startWorkload()
	p.ready()
	c := p.legacy("2025-06-18")
	c.must(c.call("echo", `{"text":"x"}`))
}

// O10: the sidecar notices a workload that can be reached past it.
func TestAWorkloadOnAllInterfacesIsReported(t *testing.T) {
	t.Parallel()
	p := httpPod(t, "--listen", "0.0.0.0").ready()
	want := outsideAddress() != "" // a machine with loopback only exposes nothing
	eventually(t, "the question is answered", func() bool { return p.status().Workload.Exposed == want })
	if q := httpPod(t).ready(); q.status().Workload.Exposed {
		t.Error("a workload on loopback is reported")
	}
}

// O20: one session's process is killed: that session ends, the others and
// readiness do not move.
func TestAKilledChildEndsItsOwnSessionOnly(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	victim, other := p.legacy("2025-06-18"), p.legacy("2025-06-18")
	stateless := p.client(modern)
	stateless.must(stateless.call("echo", `{"text":"x"}`))
	pid, err := strconv.Atoi(victim.must(victim.call("pid", `{}`)).text())
	if err != nil {
		t.Fatal(err)
	}
	running := sleeping(p, victim, 600_000)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := <-running; r.err != nil || r.last().Error == nil {
		t.Errorf("the running call got %v, want an error that says so", r)
	}
	eventually(t, "the session is gone", func() bool { return victim.call("echo", `{"text":"x"}`).status == http.StatusNotFound })
	other.must(other.call("echo", `{"text":"x"}`))
	stateless.must(stateless.call("echo", `{"text":"x"}`))
	if !p.isReady() || p.metric("fairlead_handshake_failures_total", "") != 0 {
		t.Error("readiness moved")
	}
	eventually(t, "the crash is counted", func() bool { return p.metric("fairlead_process_ends_total", `reason="crashed"`) == 1 })
	fresh := p.legacy("2025-06-18")
	fresh.must(fresh.call("echo", `{"text":"x"}`))
}

// A workload that ends itself during a call: the call says so.
func TestAProcessThatDiesDuringACall(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	for _, c := range []*client{p.legacy("2025-11-25"), p.client(modern)} {
		r := c.call("crash", `{"code":7}`)
		if e := r.last().Error; r.err != nil || e == nil || e.Data.Reason == "" || strings.Contains(r.body, "as asked") {
			t.Errorf("%s: %v", c.revision, r)
		}
	}
	c := p.client(modern)
	eventually(t, "stateless calls work again", func() bool { return c.call("echo", `{"text":"x"}`).text() == "x" })
	if !p.isReady() {
		t.Error("readiness moved")
	}
}

// O20: the workload container restarts.
func TestTheAgentIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-06-18")
	p.agent.kill()
	p.failed(config.ReasonAgentUnreachable)
	if p.isReady() {
		t.Error("ready without an agent")
	}
	// P1: a call that comes now waits for the workload.
	stateless := p.client(modern)
	held := make(chan reply, 1)
	go func() { held <- stateless.call("echo", `{"text":"held"}`) }()
	eventually(t, "the call is held", func() bool { return p.metric("fairlead_held_requests", "") == 1 })
	p.startAgent()
	p.ready()
	if r := <-held; r.text() != "held" {
		t.Errorf("the held call got %v", r)
	}
	if r := c.call("echo", `{"text":"x"}`); r.status != http.StatusNotFound {
		t.Errorf("the old session: %v", r)
	}
	fresh := p.legacy("2025-06-18")
	fresh.must(fresh.call("echo", `{"text":"x"}`))
}

// O20: the sidecar is killed; what it started ends with it, and it is ready
// again by itself.
func TestTheSidecarIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-06-18")
	pid, err := strconv.Atoi(c.must(c.call("pid", `{}`)).text())
	if err != nil {
		t.Fatal(err)
	}
	p.sidecar.kill()
	eventually(t, "its processes are gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	p.startSidecar()
	p.ready()
	c.base = p.public
	if r := c.call("echo", `{"text":"x"}`); r.status != http.StatusNotFound {
		t.Errorf("the session of the old process: %v", r)
	}
	fresh := p.legacy("2025-06-18")
	fresh.must(fresh.call("echo", `{"text":"x"}`))
}
