package dataplane

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// kinds are the two ways in which a workload is spoken to.
var kinds = map[string]func(t *testing.T, flags ...string) *pod{"stdio": stdioPod, "http": httpPod}

// One URL serves every revision at the same time, whatever the workload.
func TestEveryRevisionOnOneURL(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
				c := p.legacy(revision)
				var answer struct{ ProtocolVersion string }
				again := p.client(revision).initialize(`{}`)
				if err := json.Unmarshal(again.last().Result, &answer); err != nil || answer.ProtocolVersion != revision {
					t.Errorf("%s: negotiated %q, %v", revision, answer.ProtocolVersion, again)
				}
				conversation(t, c)
				if r := c.do(http.MethodDelete, "", nil); r.status/100 != 2 {
					t.Errorf("%s: DELETE: %v", revision, r)
				}
				if r := c.call("echo", `{"text":"x"}`); r.status != http.StatusNotFound {
					t.Errorf("%s: a call after DELETE: %v", revision, r)
				}
			}
			c := p.client(modern)
			if r := c.must(c.ask("server/discover", `{}`)); !strings.Contains(r.body, modern) {
				t.Errorf("discover: %v", r)
			}
			conversation(t, c)
			if r := c.do(http.MethodGet, "", map[string]string{"MCP-Protocol-Version": modern}); r.status != http.StatusMethodNotAllowed {
				t.Errorf("GET of a modern client: %v", r)
			}
			s := p.status()
			if s.Workload.Name != "testworkload" || s.Workload.Era != "legacy" || !s.Ready {
				t.Errorf("status %+v", s)
			}
			if n := p.metric("mcp_server_operation_duration_seconds_count", `gen_ai_tool_name="echo"`); n < 4 {
				t.Errorf("%v calls of echo counted", n)
			}
			if n := p.metric("mcp_client_operation_duration_seconds_count", `mcp_method_name="tools/call"`); n < 4 {
				t.Errorf("%v calls towards the workload counted", n)
			}
		})
	}
}

// conversation lists and calls.
func conversation(t *testing.T, c *client) {
	t.Helper()
	if r := c.must(c.ask("tools/list", `{}`)); !strings.Contains(r.body, `"echo"`) {
		t.Errorf("%s: tools/list: %v", c.revision, r)
	}
	if r := c.must(c.call("echo", `{"text":"9007199254740993 😀"}`)); r.text() != "9007199254740993 😀" {
		t.Errorf("%s: echo: %v", c.revision, r)
	}
	if r := c.ask("no/such", `{}`); r.last().Error == nil || r.last().Error.Code != -32601 {
		t.Errorf("%s: unknown method: %v", c.revision, r)
	}
	if c.revision != modern {
		c.must(c.ask("ping", `{}`))
	}
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			for _, c := range []*client{p.legacy("2025-11-25"), p.client(modern)} {
				_, body, header := c.compose("tools/call", `{"name":"progress","arguments":{"n":5}}`)
				body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":"tok-1",`, 1)
				if c.revision != modern {
					body = strings.Replace(body, `"params":{`, `"params":{"_meta":{"progressToken":"tok-1"},`, 1)
				}
				r := c.must(c.send(body, header))
				var seen []float64
				for _, m := range r.messages[:len(r.messages)-1] {
					var params struct {
						ProgressToken string
						Progress      float64
					}
					if err := json.Unmarshal(m.Params, &params); err != nil || params.ProgressToken != "tok-1" {
						t.Errorf("%s: %s %v", c.revision, m.Params, err)
					}
					seen = append(seen, params.Progress)
				}
				if fmt.Sprint(seen) != "[1 2 3 4 5]" {
					t.Errorf("%s: progress %v", c.revision, seen)
				}
			}
		})
	}
}

// P16, W19: a cancelled call ends without an answer, and the workload is told:
// this one ends itself when it is (C29).
func TestCancelReachesTheWorkload(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		p := stdioPod(t, "--die-on-cancel").ready()
		c := p.legacy("2025-11-25")
		cancelled(t, c)
		eventually(t, "the process has ended itself", func() bool { return p.metric("fairlead_process_ends_total", `reason="crashed"`) == 1 })
		eventually(t, "its session is gone", func() bool { return c.call("echo", `{"text":"x"}`).status == http.StatusNotFound })
		if !p.isReady() {
			t.Error("readiness moved")
		}
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		p := httpPod(t, "--die-on-cancel").ready()
		cancelled(t, p.legacy("2025-11-25"))
		if code := p.workload.exit(); code != 1 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("and the session goes on", func(t *testing.T) {
		t.Parallel()
		p := stdioPod(t).ready()
		c := p.legacy("2025-11-25")
		for range 20 {
			cancelled(t, c)
		}
		c.must(c.call("echo", `{"text":"x"}`))
		eventually(t, "nothing is left open", func() bool { return p.status().Counts.Streams == 0 })
	})
}

// cancelled makes a call and cancels it once the workload has it.
func cancelled(t *testing.T, c *client) {
	t.Helper()
	id, body, header := c.compose("tools/call", `{"name":"progress","arguments":{"n":1,"ms":600000},"_meta":{"progressToken":"t"}}`)
	call, err := c.open(http.MethodPost, body, header)
	if err != nil {
		t.Fatal(err)
	}
	defer call.close()
	if m, data, err := call.next(); err != nil || m.Method != "notifications/progress" {
		t.Fatalf("the call runs: %s %v", data, err)
	}
	if r := c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, nil); r.status != http.StatusAccepted {
		t.Errorf("cancelled: %v", r)
	}
	if _, data, err := call.next(); err != io.EOF {
		t.Errorf("the cancelled call got %s %v", data, err)
	}
}

// A workload's question reaches the client on the stream of the call that
// caused it, and the answer comes back as the client wrote it.
func TestReverseCallsReachLegacyClients(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t).ready()
			c := p.client("2025-06-18")
			opened := c.initialize(`{"sampling":{}}`)
			c.session = opened.session
			_, body, header := c.compose("tools/call", `{"name":"sample","arguments":{"text":"hello?"}}`)
			s, err := c.open(http.MethodPost, body, header)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			question, _, err := s.next()
			if err != nil || question.Method != "sampling/createMessage" {
				t.Fatalf("%+v %v", question, err)
			}
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","n":1.0}}`, question.ID)
			if r := c.send(answer, nil); r.status != http.StatusAccepted {
				t.Fatalf("the answer: %v", r)
			}
			got, data, err := s.next()
			if err != nil || got.Result == nil || !strings.Contains(data, `\"n\":1.0`) {
				t.Errorf("%s %v", data, err)
			}
		})
	}
	t.Run("and are refused for a client that cannot answer", func(t *testing.T) {
		t.Parallel()
		p := stdioPod(t).ready()
		c := p.legacy("2025-06-18")
		if r := c.must(c.call("sample", `{"text":"hello?"}`)); !strings.Contains(r.text(), "-32601") {
			t.Errorf("the workload was told %v", r)
		}
	})
}

// P3, P4: the head of a GET comes at once, with an id, and a second GET does
// not end the first.
func TestStandaloneStreams(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-06-18")
	var streams []*stream
	for range 2 {
		s, err := c.open(http.MethodGet, "", map[string]string{"Accept": "text/event-stream"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if s.resp.StatusCode != http.StatusOK || s.resp.Header.Get("X-Accel-Buffering") != "no" {
			t.Fatalf("GET: %v %v", s.resp.StatusCode, s.resp.Header)
		}
		streams = append(streams, s)
	}
	eventually(t, "both streams are open", func() bool { return p.metric("fairlead_active_streams", `kind="get"`) == 2 })
	if r := c.do(http.MethodDelete, "", nil); r.status/100 != 2 {
		t.Fatalf("DELETE: %v", r)
	}
	for i, s := range streams {
		if _, data, err := s.next(); err == nil {
			t.Errorf("stream %d goes on with %q after DELETE", i, data)
		}
	}
	eventually(t, "nothing is left", func() bool {
		counts := p.status().Counts
		return counts.Sessions == 0 && counts.Streams == 0 && p.metric("fairlead_active_streams", `kind="get"`) == 0
	})
}
