package dataplane

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// sleeping starts a call and returns when it runs. What
// ended before may still be counted for a moment: so the count must first come
// down to the calls that are known to run.
func sleeping(p *pod, c *client, ms int) <-chan reply {
	p.t.Helper()
	settled := func() bool { return p.status().Counts.Active == int(p.running.Load()) }
	eventually(p.t, "earlier calls are counted no more", settled)
	_, body, header := c.compose("tools/call", `{"name":"sleep","arguments":{"ms":`+strconv.Itoa(ms)+`}}`)
	answer := make(chan reply, 1)
	p.running.Add(1)
	go func() {
		r := c.send(body, header)
		p.running.Add(-1)
		answer <- r
	}()
	eventually(p.t, "the call runs", settled)
	return answer
}

// P24, O3: SIGTERM loses no call. What runs is answered, what comes while
// endpoints move is served, and the process ends by itself with nothing left.
func TestSIGTERMDrains(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			old, stateless := p.legacy("2025-11-25"), p.client(modern)
			get, err := old.open(http.MethodGet, "", map[string]string{"Accept": "text/event-stream"})
			if err != nil {
				t.Fatal(err)
			}
			defer get.close()
			calls := []<-chan reply{sleeping(p, old, 6500), sleeping(p, stateless, 6500)}
			p.sidecar.signal(syscall.SIGTERM)
			eventually(t, "not ready", func() bool { _, why := p.get(p.admin, config.PathReadyz); return why == "draining\n" })
			if s := p.status(); !s.Draining || s.Ready {
				t.Errorf("status %+v", s)
			}
			// Endpoints have not moved yet: everything is served.
			late := p.legacy("2025-06-18")
			if r := late.must(late.call("echo", `{"text":"x"}`)); r.closed {
				t.Error("connections are closed before endpoints have moved")
			}
			eventually(t, "endpoints have moved", func() bool { return strings.Contains(p.sidecar.log.String(), `"state":"closing"`) })
			if r := p.client("2025-06-18").initialize(`{}`); r.status != http.StatusServiceUnavailable || !r.closed {
				t.Errorf("a new session while draining: %v", r)
			}
			for {
				if _, _, err := get.next(); err != nil {
					break // the standalone stream has been ended
				}
			}
			for i, call := range calls {
				if r := <-call; !strings.HasPrefix(r.text(), "slept") {
					t.Errorf("running call %d got %v", i, r)
				}
			}
			if r := stateless.must(stateless.call("echo", `{"text":"x"}`)); !r.closed {
				t.Error("a call on a reused connection is not told to close it")
			}
			if code := p.sidecar.exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if p.agent != nil {
				eventually(t, "no process is left", func() bool { return len(children(p.agent)) == 0 })
			}
		})
	}
}

// A call that does not end within drainSeconds is cut, and told why.
func TestADrainIsBounded(t *testing.T) {
	t.Parallel()
	s := config.DefaultStdio()
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.boot.Clocks = config.NewClocks(2)
	p.startAgent()
	p.startSidecar()
	p.ready()
	calls := []<-chan reply{sleeping(p, p.legacy("2025-11-25"), 600_000), sleeping(p, p.client(modern), 600_000)}
	p.sidecar.signal(syscall.SIGTERM)
	for i, call := range calls {
		r := <-call
		if e := r.last().Error; r.err != nil || e == nil || e.Data.Reason != "draining" {
			t.Errorf("call %d got %v", i, r)
		}
	}
	if code := p.sidecar.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// O3: the sidecar's own hook drains and returns; the process stays for the
// SIGTERM that the kubelet sends later, and still answers.
func TestTheSidecarsHook(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-06-18")
	call := sleeping(p, c, 6000)
	sidecar, workload := p.hook("sidecar"), p.hook("workload") // the kubelet runs both at once
	if r := <-call; !strings.HasPrefix(r.text(), "slept") {
		t.Errorf("the running call got %v", r)
	}
	for _, h := range []*process{sidecar, workload} {
		if code := h.exit(); code != 0 {
			t.Errorf("a hook ended with %d: %s", code, h.log)
		}
	}
	if !p.sidecar.running() || !p.status().Draining {
		t.Fatal("the sidecar did not wait for SIGTERM")
	}
	// A balancer that learns late still sends: that call is not lost.
	if r := c.must(c.call("echo", `{"text":"x"}`)); !r.closed {
		t.Error("a late call is not told to close its connection")
	}
	if code, _ := p.get(p.admin, config.PathLivez); code != 200 {
		t.Errorf("livez %d after the drain", code)
	}
	p.sidecar.signal(syscall.SIGTERM)
	if code := p.sidecar.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// O3: a liveness failure of the workload runs its hook alone. That is no
// drain: the pod is ready again after the container's restart.
func TestTheWorkloadsHookAlone(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	call := sleeping(p, p.legacy("2025-06-18"), 2500)
	hook := p.hook("workload")
	eventually(t, "not ready", func() bool { return !p.isReady() })
	if r := <-call; !strings.HasPrefix(r.text(), "slept") {
		t.Errorf("the running call got %v", r)
	}
	if code := hook.exit(); code != 0 {
		t.Errorf("the hook ended with %d: %s", code, hook.log)
	}
	if p.status().Draining {
		t.Fatal("the workload's hook started a drain")
	}
	p.agent.signal(syscall.SIGTERM)
	p.agent.exit()
	p.startAgent() // sooner than any check could notice
	p.ready()
	c := p.legacy("2025-06-18")
	c.must(c.call("echo", `{"text":"x"}`))
}

// The same sidecar on a laptop, with an agent of its own.
func TestRunOnALaptop(t *testing.T) {
	t.Parallel()
	p := launch(t, "mcp-sidecar", nil, "run", "--stdio", "--listen", "127.0.0.1:0", "--", binary("testworkload"), "serve")
	var url string
	eventually(t, "it serves", func() bool {
		_, rest, ok := strings.Cut(p.log.String(), "  http://")
		if ok {
			url, _, ok = strings.Cut("http://"+rest, "/mcp\n")
		}
		return ok
	})
	c := (&pod{t: t, public: url}).legacy("2025-06-18")
	c.must(c.call("echo", `{"text":"x"}`))
	p.signal(syscall.SIGINT)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
