package dataplane

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
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

// What workloads do wrong costs the call that met it, and nobody else. B3.8, R5
func TestBadWorkloadsFailTheirOwnCallsOnly(t *testing.T) {
	const (
		fails = iota // with an error that has a reason
		works
		hangs
		asks // works with a session, whose refusal the tool gets to see; -32021 without
	)
	for mode, want := range map[string]struct {
		http bool
		bad  int
		text string
	}{
		"exits-on-probe":  {bad: works, text: "bad"},
		"garbage":         {bad: works, text: "bad"},
		"long-line":       {bad: fails},
		"twice":           {bad: works, text: "bad"},
		"dies":            {bad: works, text: "bad"},
		"wrong-id":        {bad: hangs},
		"deaf":            {bad: hangs},
		"stops":           {bad: hangs},
		"asks":            {bad: asks, text: "refused -32"},
		"leaves-children": {bad: works},
		"endless":         {http: true, bad: fails},
		"500":             {http: true, bad: fails},
		"wrong-type":      {http: true, bad: works, text: "bad"},
		"cuts":            {http: true, bad: fails},
		"closes":          {http: true, bad: works, text: "bad"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			args := []string{"--stdio", "--", binary("badworkload"), "stdio", mode}
			if want.http {
				port := strconv.Itoa(freePort(t))
				launch(t, "badworkload", nil, "http", mode, port)
				args = []string{"--http", "http://127.0.0.1:" + port + "/mcp"}
			}
			sidecar, p := bad(t, args...)
			for _, revision := range []string{"2025-11-25", modern} {
				c := p.client(revision)
				if revision != modern {
					c = p.legacy(revision)
				}
				c.must(c.call("ok", `{}`))
				what := want.bad
				if what == asks {
					what = map[bool]int{true: fails, false: works}[revision == modern]
				}
				switch what {
				case works:
					r := c.must(c.call("bad", `{}`))
					if !strings.Contains(r.text(), want.text) {
						t.Errorf("%s: %v", revision, r)
					}
					if pid, err := strconv.Atoi(r.text()); err == nil {
						defer eventually(t, "the child is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
					}
				case fails:
					if r := c.call("bad", `{}`); r.err != nil || r.last().Error == nil || r.last().Error.Code > -32000 {
						t.Errorf("%s: %v", revision, r)
					}
				case hangs:
					if r := c.bounded("bad", 300*time.Millisecond); r.err == nil {
						t.Errorf("%s: an answer: %v", revision, r)
					}
				}
				other := p.legacy("2025-06-18")
				other.must(other.call("ok", `{}`))
			}
			sidecar.signal(syscall.SIGINT)
			if code := sidecar.exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
