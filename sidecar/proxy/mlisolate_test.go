package proxy_test

import (
	"strings"
	"testing"
)

func TestCallsOfStrangersHaveTheProcessToThemselves(t *testing.T) { // P5, R23, B19.4
	r := serve(t, plain(script{"tools/call": asking}))
	var states []string
	for range 2 { // same id, same question
		_, state := questionsOf(t, r.modern().call("tools/call", `{"name":"x"}`))
		states = append(states, state)
	}
	if r.child.starts != 2 {
		t.Errorf("%d processes", r.child.starts)
	}
	for _, state := range states {
		r.modern().want("tools/call", again(`{"name":"x"}`, `{"elicitation-1":{"action":"cancel"}}`, state), complete)
	}
	_, _ = questionsOf(t, r.modern().call("tools/call", `{"name":"x"}`))
	if r.child.starts != 2 {
		t.Errorf("%d processes, of which two were free", r.child.starts)
	}
}

func TestListsAreThoseOfWhatTheClientDeclares(t *testing.T) { // P7, B3.2
	r := serve(t, plain(nil))
	for _, caps := range []string{`{}`, `{"elicitation":{}}`, `{"elicitation":{"form":{}},"experimental":{"x":{}}}`, `{"sampling":{}}`, `{"roots":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`} {
		r.declaring(caps).call("tools/list", "")
	}
	if r.child.starts != 3 {
		t.Errorf("%d processes for three fingerprints", r.child.starts)
	}
}

func TestACompletionSaysOnlyWhatTheWorkloadKnows(t *testing.T) { // B11.9
	for revision, want := range map[string]string{
		"2025-03-26": `{"ref":{},"argument":{}}}`,
		"2025-06-18": `{"ref":{},"argument":{},"context":{"a":1}}}`,
	} {
		r := serve(t, plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"` + revision + `","capabilities":{"completions":{}},"serverInfo":{"name":"c","version":"1"}}}`}}))
		got := saw([]byte(r.modern().call("completion/complete", `{"ref":{},"argument":{},"context":{"a":1}}`)))
		if _, params, _ := strings.Cut(got, `"params":`); params != want {
			t.Errorf("%s: the workload saw %s", revision, got)
		}
	}
}

func TestASampledAnswerIsSaidInTheWorkloadsRevision(t *testing.T) { // B14.6
	r := serve(t, plain(script{
		"tools/call": {`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`},
		"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
	}))
	c := r.declaring(`{"sampling":{}}`)
	_, state := questionsOf(t, c.call("tools/call", `{"name":"x"}`))
	got := c.call("tools/call", again(`{"name":"x"}`, `{"sampling-1":{"role":"assistant","model":"m","content":[{"type":"text","text":"t"}]}}`, state))
	if saw([]byte(got)) != `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"t"}}}` {
		t.Error(got)
	}
}

func TestAToolThatSaysWhatItNeeds(t *testing.T) { // B7.15
	r := serve(t, plain(script{
		"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"},"_meta":{"dev.fairlead/needs":["sampling"]}}]}}`},
		"tools/call": {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}))
	r.modern().call("tools/list", "")
	r.modern().want("tools/call", `{"name":"x"}`, `{"code":-32021,"message":"the workload needs what the client did not declare","data":{"requiredCapabilities":{"sampling":{}}}}`)
	r.declaring(`{"sampling":{}}`).want("tools/call", `{"name":"x"}`, complete)
}
