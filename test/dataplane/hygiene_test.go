package dataplane

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// F1: what a client keeps secret shows up in no log, metric or status, also at
// the most talkative log level.
func TestSecretsStayOutOfLogsAndMetrics(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	canaries := map[string]string{
		"token": "canary-token-1f", "cookie": "canary-cookie-2e", "argument": "canary-argument-3d",
		"header": "canary-header-4c", "query": "canary-query-5b", "client": "canary-client-6a",
	}
	header := map[string]string{"Authorization": "Bearer " + canaries["token"], "Cookie": "sid=" + canaries["cookie"], "X-Api-Key": canaries["header"]}
	for _, c := range []*client{p.legacy("2025-11-25"), p.client(modern)} {
		_, body, own := c.compose("tools/call", `{"name":"echo","arguments":{"text":"`+canaries["argument"]+`"}}`)
		body = strings.ReplaceAll(body, `"name":"test"`, `"name":"`+canaries["client"]+`"`)
		for k, v := range header {
			if own == nil {
				own = map[string]string{}
			}
			own[k] = v
		}
		if r := c.must(c.send(body, own)); r.text() != canaries["argument"] {
			t.Errorf("%v", r)
		}
		c.send(body[:len(body)-5], own) // and what cannot be parsed
		if c.session != "" {
			canaries["session of "+c.revision] = c.session
		}
	}
	// Line breaks and terminal codes in a name that does get logged.
	c := p.client(modern)
	c.ask("tools/call", `{"name":"x\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\u001b]0;t","arguments":{}}`)
	_, _ = p.get(p.public, "/mcp?access_token="+canaries["query"])
	_, metrics := p.get(p.metrics, "/metrics")
	_, status := p.get(p.admin, "/status")
	for place, text := range map[string]string{"the log": p.sidecar.log.String(), "the metrics": metrics, "the status": status} {
		for what, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s shows the %s", place, what)
			}
		}
		if strings.Contains(text, "\x1b") || strings.Contains(text, "\n{\"level\":\"ERROR\",\"msg\":\"forged\"") {
			t.Errorf("%s was forged", place)
		}
	}
}

// What sessions took is given back: processes, streams, descriptors.
func TestSessionsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	round := func() {
		for range 8 {
			c := p.legacy("2025-11-25")
			get, err := c.open(http.MethodGet, "", map[string]string{"Accept": "text/event-stream"})
			if err != nil {
				t.Fatal(err)
			}
			c.must(c.call("echo", `{"text":"x"}`))
			if r := c.do(http.MethodDelete, "", nil); r.status/100 != 2 {
				t.Errorf("DELETE: %v", r)
			}
			get.close()
			c.http.CloseIdleConnections()
		}
		eventually(t, "sessions, streams and processes are gone", func() bool {
			n := p.status().Counts
			return n.Sessions == 0 && n.Streams == 0 && n.Processes <= 1 && len(children(p.agent)) <= 1 // the shared one stays
		})
	}
	round() // what is made once is there now
	before := descriptors(t, p.sidecar)
	for range 4 {
		round()
	}
	eventually(t, fmt.Sprintf("the descriptors are back at %d", before), func() bool { return descriptors(t, p.sidecar) <= before+2 })
}

func descriptors(t *testing.T, p *process) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
