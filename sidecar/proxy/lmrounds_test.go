package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// answering makes a request and answers what comes back on its stream: by the
// message of the question, or its method. It returns the questions, less what
// is different every time, and the last message.
func (c *client) answering(id, method, params string, answers map[string]string) (asked []string, last string) {
	c.r.t.Helper()
	s := c.request(id, method, params)
	defer s.close()
	for {
		m, ok := s.next()
		if !ok {
			return asked, last
		}
		last = m
		raw, _ := strictjson.Get([]byte(m), "id")
		name, isRequest := strictjson.Get([]byte(m), "method")
		if !isRequest || raw == nil {
			continue
		}
		about, _ := strictjson.Get([]byte(m), "params")
		bare, _ := strictjson.Splice(about, strictjson.Delete("elicitationId"))
		method, _ := strictjson.String(name)
		asked = append(asked, method+" "+string(bare))
		text, _ := strictjson.Get(about, "message")
		key, _ := strictjson.String(text)
		answer, ok := answers[key]
		if !ok {
			answer = answers[method]
		}
		if answer == "" {
			return asked, last
		}
		if res := c.post(`{"jsonrpc":"2.0","id":` + string(raw) + `,` + answer + `}`); res.status != 202 {
			c.r.t.Errorf("an answer was met with %d", res.status)
		}
	}
}

// asks is an answer that asks for input; more are further members.
func asks(questions, more string) string {
	return `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":` + questions + more + `}}`
}

const form = `{"method":"elicitation/create","params":{"mode":"form","message":"who","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}`

func TestQuestionsBecomeReverseCalls(t *testing.T) { // B19.3, B8.1, B8.2, B8.3, W32.14, W32.15
	for revision, mode := range map[string]string{"2025-06-18": ``, "2025-11-25": `"mode":"form",`} {
		r := serveAs(t, rounds(script{"tools/call:ask": {
			asks(`{"user_name":`+form+`}`, `,"requestState":"s \u0041"`),
			`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[],"saw":$LINE}}`,
		}}), upstream.EraModern)
		c, _ := r.initialize(revision, `{"elicitation":{},"sampling":{},"roots":{}}`)
		asked, last := c.answering("7", "tools/call", `{"name":"ask","arguments":{"x":1.0}}`, map[string]string{"who": `"result":{"action":"accept","content":{"n":1e2}}`})
		if want := `elicitation/create {` + mode + `"message":"who","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}`; len(asked) != 1 || asked[0] != want {
			t.Errorf("%s: asked %v, want %s", revision, asked, want)
		}
		if !strings.HasPrefix(last, `{"jsonrpc":"2.0","id":7,"result":{"content":[],"saw":`) || !strings.Contains(last, `"inputResponses":{"user_name":{"action":"accept","content":{"n":1e2}}},"requestState":"s \u0041"`) ||
			!strings.Contains(last, `"name":"ask","arguments":{"x":1.0}`) {
			t.Errorf("%s: last %s", revision, last)
		}
	}
}

func TestProgressRisesOverRounds(t *testing.T) { // B11.4, W20.3
	note := func(progress string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":` + progress + `}}`
	}
	r := serveAs(t, stateless(script{
		"tools/call:x":   {note("1"), note("2.5"), asks(`{"k":`+form+`}`, "")},
		"tools/call:x#2": {note("1"), note("2.5"), note("3"), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}), upstream.EraModern)
	c, _ := r.initialize("2025-11-25", `{"elicitation":{}}`)
	s := c.request("7", "tools/call", `{"name":"x","_meta":{"progressToken":"t"}}`)
	defer s.close()
	got := func(progress string) string { return strings.Replace(note(progress), "$TOKEN", `"t"`, 1) }
	s.want(got("1"))
	s.want(got("2.5"))
	c.answered(s, `"result":{"action":"decline"}`)
	s.want(got("3"))
	s.want(`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
}

func TestQuestionsThatAreNotWellMade(t *testing.T) { // R7, B8.2, B16
	r := serveAs(t, rounds(script{
		"tools/call:null":  {asks(`{"r":{"method":"roots/list","params":null}}`, ``), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
		"tools/call:array": {asks(`{"r":{"method":"roots/list","params":[]},"s":{"method":"roots/list"}}`, ``)},
	}), upstream.EraModern)
	c, _ := r.initialize("2025-11-25", `{"roots":{}}`)
	asked, last := c.answering("7", "tools/call", `{"name":"null"}`, map[string]string{"roots/list": `"result":{"roots":[]}`})
	if len(asked) != 1 || asked[0] != "roots/list " || last != `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}` {
		t.Errorf("asked %q, last %s", asked, last)
	}
	c.want("tools/call", `{"name":"array"}`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`)
}

// rounds is a workload whose entries answer one step each time: the next one
// when it is asked again, the last one for ever.
func rounds(s script) script {
	out := stateless(nil)
	for key, steps := range s {
		out[key] = append([]string{"!turns"}, steps...)
	}
	return out
}

func TestSeveralQuestionsAtOnce(t *testing.T) { // B8.2, B8.3
	r := serveAs(t, rounds(script{"tools/call": {
		asks(`{"a":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"maxTokens":1}},"__proto__":{"method":"roots/list"},"":`+form+`}`, ``),
		asks(`{"b":`+form+`}`, `,"requestState":"2"`),
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE}}`,
	}}), upstream.EraModern)
	c, _ := r.initialize("2025-06-18", `{"elicitation":{},"sampling":{},"roots":{}}`)
	asked, last := c.answering("1", "tools/call", `{"name":"x"}`, map[string]string{
		"sampling/createMessage": `"result":{"role":"assistant","content":{"type":"text","text":"y"},"model":"m"}`,
		"roots/list":             `"result":{"roots":[]}`,
		"elicitation/create":     `"result":{"action":"decline"}`,
	})
	if len(asked) != 4 || !strings.Contains(strings.Join(asked, "\n"), `"messages":[{"role":"user","content":{"type":"text","text":"x"}}]`) {
		t.Errorf("asked %s", strings.Join(asked, "\n"))
	}
	// Each round carries its own answers and no others.
	if !strings.Contains(last, `"inputResponses":{"b":{"action":"decline"}},"requestState":"2"`) {
		t.Error(last)
	}
}

func TestQuestionsThatStayUnanswered(t *testing.T) { // B19.3, B0.4, B0.8, B8.5, B8.6, B8.9, section 17
	const (
		sample = `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`
		url    = `{"method":"elicitation/create","params":{"mode":"url","message":"who","url":"https://x"}}`
		multi  = `{"method":"elicitation/create","params":{"message":"who","requestedSchema":{"type":"object","properties":{"n":{"type":"array"}}}}}`
		echo   = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE}}`
	)
	for name, tc := range map[string]struct {
		revision, caps, question, answer string
		want                             string
		asked                            int
	}{
		"an error to an elicitation is a cancel":    {"2025-06-18", `{"elicitation":{}}`, form, `"error":{"code":-1,"message":"no"}`, `"inputResponses":{"k":{"action":"cancel"}}`, 1},
		"an error to sampling ends the call":        {"2025-06-18", `{"sampling":{}}`, sample, `"error":{"code":-1,"message":"no"}`, `"result":{"content":[{"type":"text","text":"the client refused sampling"}],"isError":true}`, 1},
		"what was not declared is not asked":        {"2025-06-18", `{}`, sample, ``, `this client cannot be asked"}],"isError":true}`, 0},
		"nor what the revision does not have":       {"2025-03-26", `{"elicitation":{}}`, form, ``, `cannot be asked"}],"isError":true}`, 0},
		"nor an address before there were any":      {"2025-06-18", `{"elicitation":{}}`, url, ``, `did not declare"}],"isError":true}`, 0},
		"nor an address to who knows forms only":    {"2025-11-25", `{"elicitation":{}}`, url, ``, `did not declare"}],"isError":true}`, 0},
		"several choices are nobody's choice":       {"2025-06-18", `{"elicitation":{}}`, multi, ``, `"inputResponses":{"k":{"action":"cancel"}}`, 0},
		"a kind that does not exist is not asked":   {"2025-11-25", `{"elicitation":{}}`, `{"method":"tools/call"}`, ``, `did not declare"}],"isError":true}`, 0},
		"an answer that is no object ends the call": {"2025-06-18", `{"elicitation":{}}`, form, `"result":[]`, `could not be read"}],"isError":true}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+tc.question+`}`, ``), echo}}), upstream.EraModern)
			c, _ := r.initialize(tc.revision, tc.caps)
			answers := map[string]string{}
			if tc.answer != "" {
				answers = map[string]string{"who": tc.answer, "sampling/createMessage": tc.answer}
			}
			asked, last := c.answering("1", "tools/call", `{"name":"x"}`, answers)
			if len(asked) != tc.asked || !strings.Contains(last, tc.want) {
				t.Errorf("asked %v, last %s", asked, last)
			}
			r.events.mu.Lock()
			defer r.events.mu.Unlock()
			if counted := len(r.events.lossy); counted > 0 != (tc.asked == 0) {
				t.Errorf("counted %v", r.events.lossy)
			}
		})
	}
	t.Run("other methods fail", func(t *testing.T) {
		r := serveAs(t, rounds(script{"prompts/get": {asks(`{"k":`+sample+`}`, ``)}, "completion/complete": {asks(`{"k":`+sample+`}`, ``)}}), upstream.EraModern)
		c := r.legacy()
		if got := c.call("prompts/get", `{"name":"x"}`); !strings.Contains(got, `"code":-32603`) || !strings.Contains(got, `"reason":"input_refused"`) {
			t.Error(got)
		}
		c.want("completion/complete", `{}`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`) // W32.3
	})
	t.Run("a client that takes JSON only", func(t *testing.T) {
		r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+form+`}`, ``), echo}}), upstream.EraModern)
		c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
		res := c.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, func(h http.Header) { h.Set("Accept", "application/json") }).rest()
		if len(res.messages) != 1 || !strings.Contains(res.messages[0], `cannot be asked"}],"isError":true}`) {
			t.Error(res.messages)
		}
	})
}

func TestRoundsHaveAnEnd(t *testing.T) { // B8.4
	r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+form+`}`, ``)}}), upstream.EraModern)
	c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
	asked, last := c.answering("1", "tools/call", `{"name":"x"}`, map[string]string{"who": `"result":{"action":"accept"}`})
	if len(asked) != 10 || !strings.Contains(last, `"reason":"rounds"`) {
		t.Errorf("asked %d times, last %s", len(asked), last)
	}
}

func TestAStateAloneIsBroughtBack(t *testing.T) { // B19.3, B8.4, W32.14
	r := serveAs(t, rounds(script{"tools/call": {
		`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","requestState":"1"}}`,
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE}}`,
	}}), upstream.EraModern)
	if got := r.legacy().call("tools/call", `{"name":"x"}`); !strings.Contains(got, `"requestState":"1"`) || strings.Contains(got, "inputResponses") {
		t.Error(got)
	}
}

func TestACancelReachesTheWorkloadAndTheQuestion(t *testing.T) { // B19.3, B8.8, B11.6, W19.1
	r := serveAs(t, rounds(script{"tools/call": {asks(`{"k":`+form+`}`, ``)}}), upstream.EraModern)
	c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
	s := c.request("1", "tools/call", `{"name":"x"}`)
	defer s.close()
	question, _ := s.next()
	if !strings.Contains(question, "elicitation/create") {
		t.Fatal(question)
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	id, _ := strictjson.Get([]byte(question), "id")
	if m, ok := s.next(); ok {
		t.Errorf("after the cancel came %s", m)
	}
	get := c.get() // the request's own stream has ended
	defer get.close()
	get.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + string(id) + `}}`)
}
