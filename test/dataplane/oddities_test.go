package dataplane

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// What ordinary servers do differently and clients must not feel.
func TestOddWorkloadsWork(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) *pod{
		"an early banner":         func(t *testing.T) *pod { return stdioPod(t, "--garbage-first") },                // C07
		"long instructions":       func(t *testing.T) *pod { return stdioPod(t, "--instructions-bytes", "130000") }, // C08
		"lines with CR LF":        func(t *testing.T) *pod { return stdioPod(t, "--crlf") },                         // C09
		"its own Host only":       func(t *testing.T) *pod { return httpPod(t, "--exact-host") },                    // C20
		"no session ids":          func(t *testing.T) *pod { return httpPod(t, "--stateless") },
		"JSON answers":            func(t *testing.T) *pod { return httpPod(t, "--json") },
		"initialized comes first": func(t *testing.T) *pod { return stdioPod(t, "--before-initialized-refuse") }, // C28, R9
		"an old revision":         func(t *testing.T) *pod { return stdioPod(t, "--revision", "2024-11-05") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			conversation(t, p.legacy("2025-11-25"))
			conversation(t, p.client(modern))
		})
	}
}

// C10, R5: an answer that is not UTF-8 fails its own call at once, and nothing
// else.
func TestABrokenAnswerFailsItsOwnCall(t *testing.T) {
	t.Parallel()
	p := stdioPod(t, "--bad-utf8").ready()
	for _, c := range []*client{p.legacy("2025-11-25"), p.client(modern)} {
		r := c.call("echo", `{"text":"x"}`)
		if e := r.last().Error; r.err != nil || e == nil || e.Code != -32603 || e.Data.Reason != "bad_response" {
			t.Errorf("%s: %v", c.revision, r)
		}
		c.must(c.call("pid", `{}`))
	}
}

func TestAWorkloadThatAnswersWithAStatusOnlyIsExplained(t *testing.T) {
	t.Parallel()
	p := httpPod(t, "--status", "500")
	p.failed(config.ReasonHTTPStatus)
	if p.isReady() {
		t.Error("ready")
	}
}

// P3: what belongs to no request goes to the session's standalone stream.
func TestUnsolicitedNotificationsReachTheStandaloneStream(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			c := p.legacy("2025-11-25")
			get, err := c.open(http.MethodGet, "", map[string]string{"Accept": "text/event-stream"})
			if err != nil {
				t.Fatal(err)
			}
			defer get.close()
			c.must(c.call("notify", `{}`))
			if m, data, err := get.next(); err != nil || m.Method != "notifications/tools/list_changed" {
				t.Errorf("%s %v", data, err)
			}
		})
	}
}

// P11: what a process has started ends with its session, also when it has left
// the process group.
func TestOrphansEndWithTheSession(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-11-25")
	var pids []int
	for _, arguments := range []string{`{}`, `{"group":true}`} {
		pid, err := strconv.Atoi(c.must(c.call("spawn", arguments)).text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if r := c.do(http.MethodDelete, "", nil); r.status/100 != 2 {
		t.Errorf("DELETE: %v", r)
	}
	for _, pid := range pids {
		eventually(t, "process "+strconv.Itoa(pid)+" is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	}
}

// D14: the workload learns nothing of the sidecar's environment, and nothing of
// the client's credentials.
func TestTheWorkloadSeesNeitherOurEnvironmentNorTokens(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.client(modern)
	_, body, header := c.compose("tools/call", `{"name":"env","arguments":{}}`)
	header["Authorization"] = "Bearer canary-token"
	r := c.must(c.send(body, header))
	for _, secret := range []string{config.BootEnv, config.EnvPodUID, "canary-token"} {
		if strings.Contains(r.text(), secret) {
			t.Errorf("the workload sees %s", secret)
		}
	}
}
