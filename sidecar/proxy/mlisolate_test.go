package proxy_test

import "testing"

func TestCallsOfStrangersHaveTheProcessToThemselves(t *testing.T) { // P5, R23, section 19 item 4
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
