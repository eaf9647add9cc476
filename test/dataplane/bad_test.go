package dataplane

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// bad starts `mcp-sidecar run` in front of a badworkload and returns it with its
// URL; it must be gone, with all that it started, when the test ends.
func bad(t *testing.T, args ...string) (*process, *pod) {
	t.Helper()
	p := launch(t, "mcp-sidecar", nil, append([]string{"run", "--listen", "127.0.0.1:0"}, args...)...)
	var url string
	eventually(t, "it serves", func() bool {
		_, rest, ok := strings.Cut(p.log.String(), "  http://")
		if ok {
			url, _, ok = strings.Cut("http://"+rest, "/mcp\n")
		}
		return ok || !p.running()
	})
	if !p.running() {
		t.Fatal("it ended")
	}
	return p, &pod{t: t, public: url}
}

// bounded is a call that is given up after a while.
func (c *client) bounded(tool string, most time.Duration) reply {
	_, body, header := c.compose("tools/call", `{"name":"`+tool+`","arguments":{}}`)
	ctx, stop := context.WithTimeout(context.Background(), most)
	defer stop()
	resp, err := c.http.Do(c.request(ctx, http.MethodPost, body, header))
	if err == nil {
		_ = resp.Body.Close()
	}
	return reply{err: err}
}

// outcome is how a call of the bad tool ends.
type outcome int

const (
	fails outcome = iota // with an error that has a reason
	works
	hangs
	asks // works with a session, whose refusal the tool gets to see; -32021 without
)

// badMode is a thing that a workload does wrong, and what a call that meets it
// comes to.
type badMode struct {
	transport, mode string
	modern          bool // the workload is one of 2026-07-28
	relayed         bool // its streams are
	bad             outcome
	text            string // in the answer, where it works
	reason          string // of the error, where it fails
	// all: where the workload has one process or is one, it is lost to everybody.
	all bool
}

func (m badMode) String() string {
	era := "legacy"
	if m.modern {
		era = "modern"
	}
	return m.mode + " over " + m.transport + ", " + era
}

var badModes = []badMode{
	{transport: "stdio", mode: "exits-on-probe", bad: works, text: "bad"},
	{transport: "stdio", mode: "garbage", bad: works, text: "bad"},
	{transport: "stdio", mode: "long-line", reason: "response_too_large"},
	{transport: "stdio", mode: "twice", bad: works, text: "bad"},
	{transport: "stdio", mode: "dies", bad: works, text: "bad"},
	{transport: "stdio", mode: "wrong-id", bad: hangs},
	{transport: "stdio", mode: "deaf", bad: hangs},
	{transport: "stdio", mode: "stops", bad: hangs},
	{transport: "stdio", mode: "asks", bad: asks, text: "refused -32601"},
	{transport: "stdio", mode: "leaves-children", bad: works},
	{transport: "stdio", modern: true, mode: "exits-on-probe", bad: works, text: "bad"},
	{transport: "stdio", modern: true, mode: "garbage", bad: works, text: "bad"},
	{transport: "stdio", modern: true, mode: "long-line", reason: "response_too_large"},
	{transport: "stdio", modern: true, mode: "twice", bad: works, text: "bad"},
	{transport: "stdio", modern: true, mode: "dies", bad: works, text: "bad"},
	{transport: "stdio", modern: true, mode: "wrong-id", bad: hangs},
	{transport: "stdio", modern: true, mode: "leaves-children", bad: works},
	{transport: "stdio", modern: true, mode: "deaf", bad: hangs, all: true},
	{transport: "stdio", modern: true, mode: "stops", bad: hangs, all: true},
	{transport: "stdio", modern: true, mode: "asks", bad: hangs, all: true}, // W18.4: nobody hears it

	{transport: "http", mode: "endless", reason: "response_too_large"},
	{transport: "http", mode: "long-line", reason: "response_too_large"},
	{transport: "http", mode: "500", reason: "http_status"},
	{transport: "http", mode: "wrong-type", bad: works, text: "bad"},
	{transport: "http", mode: "wrong-id", reason: "bad_response"},
	{transport: "http", mode: "twice", bad: works, text: "bad"},
	{transport: "http", mode: "garbage", bad: works, text: "bad"},
	{transport: "http", mode: "deaf", bad: hangs},
	{transport: "http", mode: "dies", bad: works, text: "bad", all: true},
	{transport: "http", mode: "stops", bad: hangs, all: true},
	{transport: "http", mode: "asks", bad: asks, text: "refused -32601"},
	{transport: "http", mode: "host", bad: works, text: "bad"},
	{transport: "http", mode: "cuts"},
	{transport: "http", mode: "closes", bad: works, text: "bad"},
	{transport: "http", modern: true, mode: "endless", reason: "response_too_large"},
	{transport: "http", modern: true, mode: "long-line", reason: "response_too_large"},
	{transport: "http", modern: true, mode: "500", reason: "http_status"},
	{transport: "http", modern: true, mode: "wrong-type", bad: works, text: "bad"},
	{transport: "http", modern: true, mode: "wrong-id", reason: "bad_response"},
	{transport: "http", modern: true, mode: "twice", bad: works, text: "bad"},
	{transport: "http", modern: true, mode: "garbage", bad: works, text: "bad"},
	{transport: "http", modern: true, mode: "deaf", bad: hangs},
	{transport: "http", modern: true, mode: "dies", bad: works, text: "bad", all: true},
	{transport: "http", modern: true, mode: "stops", bad: hangs, all: true},
	{transport: "http", modern: true, mode: "asks", bad: hangs}, // W14.5: nobody hears it
	{transport: "http", modern: true, mode: "host", bad: works, text: "bad"},
	{transport: "http", modern: true, mode: "cuts"},
	{transport: "http", modern: true, mode: "closes", bad: works, text: "bad"},
}

// start starts the sidecar in front of such a workload; port is where that
// listens, if it does.
func (m badMode) start(t *testing.T) (sidecar *process, p *pod, workload func() *process) {
	t.Helper()
	args := []string{m.transport, m.mode}
	if m.modern {
		args = append([]string{"-modern"}, args...)
	}
	if m.transport == "stdio" {
		front := []string{"--test-relay=" + strconv.FormatBool(m.relayed), "--stdio", "--", binary("badworkload")}
		sidecar, p = bad(t, append(front, args...)...)
		return sidecar, p, nil
	}
	port := strconv.Itoa(freePort(t))
	var last *process
	workload = func() *process {
		if last != nil {
			last.exit() // it answers before it dies
		}
		last = launch(t, "badworkload", nil, append(args, port)...)
		return last
	}
	workload()
	sidecar, p = bad(t, "--http", "http://127.0.0.1:"+port+"/mcp")
	return sidecar, p, workload
}

// What workloads do wrong costs the call that met it, and nobody else; and no
// process outlives the sidecar. B3.8, R5
func TestBadWorkloadsFailTheirOwnCallsOnly(t *testing.T) {
	t.Parallel()
	for _, m := range badModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			revisions := []string{"2025-11-25", modern}
			if m.all {
				for _, revision := range revisions {
					t.Run(revision, func(t *testing.T) { m.try(t, revision) })
				}
				return
			}
			m.try(t, revisions...)
		})
	}
}

// try calls the bad tool with clients of these revisions, one after another.
func (m badMode) try(t *testing.T, revisions ...string) {
	sidecar, p, again := m.start(t)
	for _, revision := range revisions {
		c := p.client(revision)
		if revision != modern {
			c = p.legacy(revision)
		}
		c.must(c.call("ok", `{}`))
		m.call(t, c)
		switch {
		case m.mode == "dies":
			if again != nil {
				again()
			}
			// What is asked before the end is noticed may meet it.
			eventually(t, "the next one serves", func() bool {
				r := c.call("ok", `{}`)
				return r.status == http.StatusNotFound || r.last().Result != nil
			})
		case m.all:
			continue // nobody else can be served
		}
		other := p.legacy("2025-06-18")
		other.must(other.call("ok", `{}`))
	}
	sidecar.signal(syscall.SIGINT)
	if code := sidecar.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// call calls the bad tool.
func (m badMode) call(t *testing.T, c *client) {
	t.Helper()
	want := m.bad
	if want == asks {
		want = map[bool]outcome{true: fails, false: works}[c.revision == modern]
	}
	switch want {
	case works:
		r := c.must(c.call("bad", `{}`))
		if !strings.Contains(r.text(), m.text) {
			t.Errorf("%s: %v", c.revision, r)
		}
		if m.mode != "leaves-children" {
			return
		}
		for text := range strings.FieldsSeq(r.text()) {
			pid, err := strconv.Atoi(text)
			if err != nil || syscall.Kill(pid, 0) != nil {
				t.Errorf("%s: %v %v", c.revision, r, err)
				continue
			}
			t.Cleanup(func() {
				eventually(t, "the child is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
			})
		}
	case fails:
		r := c.call("bad", `{}`)
		if r.err != nil || r.last().Error == nil || r.last().Error.Code > -32000 || m.reason != "" && r.last().Error.Data.Reason != m.reason {
			t.Errorf("%s: %v", c.revision, r)
		}
	case hangs:
		if r := c.bounded("bad", 300*time.Millisecond); r.err == nil {
			t.Errorf("%s: an answer: %v", c.revision, r)
		}
	}
}

// A workload that says nothing at all, or serves nobody, is never ready, and
// says why. R5, O2
func TestWorkloadsThatNeverAnswerAreExplained(t *testing.T) {
	t.Parallel()
	for mode, reason := range map[string]string{"silent": config.ReasonNoAnswer, "no-host": config.ReasonHTTPStatus} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPod(t, config.Workload{Type: config.WorkloadMCP, MCP: &config.MCP{Port: freePort(t), Path: "/mcp"}})
			launch(t, "badworkload", nil, "http", mode, strconv.Itoa(p.boot.Workload.MCP.Port))
			p.startSidecar()
			p.failed(reason)
			if code, _ := p.get(p.admin, config.PathReadyz); code != 503 {
				t.Errorf("readyz %d", code)
			}
			if code, _ := p.get(p.admin, config.PathLivez); code != 200 {
				t.Errorf("livez %d", code)
			}
		})
	}
}

// A workload that stops for a while is everybody's workload again when it goes
// on: what was asked meanwhile is answered or has failed by its own clock.
func TestAWorkloadThatStopsGoesOn(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(freePort(t))
	workload := launch(t, "badworkload", nil, "http", "stops", port)
	_, p := bad(t, "--http", "http://127.0.0.1:"+port+"/mcp")
	c := p.legacy("2025-11-25")
	ctx, giveUp := context.WithCancel(context.Background())
	_, body, header := c.compose("tools/call", `{"name":"bad","arguments":{}}`)
	given := make(chan struct{})
	go func() {
		defer close(given)
		if resp, err := c.http.Do(c.request(ctx, http.MethodPost, body, header)); err == nil {
			_ = resp.Body.Close() // its head
		}
	}()
	eventually(t, "the workload has stopped", func() bool { return stopped(t, workload) })
	giveUp()
	<-given
	waiting := make(chan reply, 1)
	_, body, header = c.compose("tools/call", `{"name":"ok","arguments":{}}`)
	go func() { waiting <- c.send(body, header) }()
	workload.signal(syscall.SIGCONT)
	c.must(<-waiting)
	m := p.client(modern)
	m.must(m.call("ok", `{}`))
}

// stopped reports whether a process stands still (SIGSTOP).
func stopped(t *testing.T, p *process) bool {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "T")
}
