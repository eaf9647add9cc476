package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const (
	sampling = `{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":1}}`
	sampled  = `"result":{"role":"assistant","content":{"type":"text","text":"y"},"model":"m"}`
	done     = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE}}`
)

func TestClientsOfEverySessionAreAsked(t *testing.T) { // B8.1, B8.2, B19.3
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+sampling+`}`, `,"requestState":"1"`), done}}), upstream.EraModern)
			c, _ := r.initialize(revision, `{"sampling":{}}`)
			asked, last := c.answering("1", "tools/call", `{"name":"x"}`, map[string]string{"sampling/createMessage": sampled})
			if len(asked) != 1 || !strings.Contains(last, `"inputResponses":{"k":{"role":"assistant","content":{"type":"text","text":"y"},"model":"m"}},"requestState":"1"`) {
				t.Errorf("asked %v, last %s", asked, last)
			}
		})
	}
}

// event reads until a message and returns it with the id of its event.
func (s *stream) event() (message, id string) {
	s.t.Helper()
	for {
		ev, err := s.sse.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		if ev.IsMessage() && len(ev.Data) > 0 {
			return string(ev.Data), ev.ID
		}
	}
}

func (c *client) resume(last string) *stream {
	return c.send(http.MethodGet, "", func(h http.Header) { h.Set("Last-Event-ID", last) })
}

// A client that loses its connection while it is asked is asked once, and gets
// its answer where it comes back.
func TestAQuestionOutlivesItsConnection(t *testing.T) { // B8.1, B19.3, W8.13
	r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+form+`}`, ``), done}}), upstream.EraModern)
	c, _ := r.initialize("2025-11-25", `{"elicitation":{}}`)
	s := c.request("1", "tools/call", `{"name":"x"}`)
	before := s.id(t)
	question, at := s.event()
	id, _ := strictjson.Get([]byte(question), "id")
	s.close()

	s = c.resume(before) // the question was lost on the way
	if again, _ := s.event(); again != question {
		t.Errorf("asked %s, then %s", question, again)
	}
	s.close()
	s = c.resume(at) // it has arrived
	defer s.close()
	if res := c.post(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"action":"decline"}}`); res.status != http.StatusAccepted {
		t.Errorf("the answer was met with %d", res.status)
	}
	if last, _ := s.event(); !strings.HasPrefix(last, `{"jsonrpc":"2.0","id":1,"result":`) || !strings.Contains(last, `"inputResponses":{"k":{"action":"decline"}}`) {
		t.Errorf("the answer is %s", last)
	}
}

// id reads the event that only gives an id, with which D streams begin.
func (s *stream) id(t *testing.T) string {
	t.Helper()
	ev, err := s.sse.Next()
	if err != nil || len(ev.Data) > 0 || len(ev.ID) == 0 {
		t.Fatalf("the stream begins with %+v: %v", ev, err)
	}
	return ev.ID
}

func TestASessionEndsInTheMiddleOfAQuestion(t *testing.T) { // B8.8, B19.3
	r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+form+`}`, ``), done}}), upstream.EraModern)
	c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
	s := c.request("1", "tools/call", `{"name":"x"}`)
	defer s.close()
	question, _ := s.event()
	id, _ := strictjson.Get([]byte(question), "id")
	if res := c.send(http.MethodDelete, "", nil).rest(); res.status/100 != 2 {
		t.Fatalf("DELETE: %d", res.status)
	}
	for {
		m, ok := s.next()
		if !ok {
			break
		}
		if strings.Contains(m, `"result"`) {
			t.Errorf("a session that is over got %s", m)
		}
	}
	if res := c.post(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"action":"accept"}}`); res.status != http.StatusNotFound {
		t.Errorf("an answer after the end was met with %d", res.status)
	}
	r.legacy().call("tools/list", "") // whatever was on its way to the workload has got there
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if n := strings.Count(strings.Join(r.events.calls, ","), "tools/call"); n != 1 {
		t.Errorf("the workload was called %d times: %v", n, r.events.calls)
	}
}
