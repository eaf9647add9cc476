package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

func TestTheStateOfAModernWorkloadIsSealed(t *testing.T) { // B9.1, W32.7, W32.8, P23
	r := serveAs(t, stateless(script{
		"tools/call:ask":   {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","n":1.0}}},"requestState":"inner \u0041"}}`},
		"tools/call:other": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{}}},"requestState":"s"}}`},
		"tools/call:url":   {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"}}}}}`},
		"tools/call:only":  {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}}}`},
	}), upstream.EraModern)
	m := r.modern()
	asked := m.call("tools/call", `{"name":"ask","arguments":{"a":1,"b":[1.0]}}`)
	sealed, _ := strictjson.Get([]byte(asked), "requestState")
	if want := `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","n":1.0}}},"requestState":` + string(sealed) + `}`; asked != want || strings.Contains(asked, "inner") {
		t.Errorf("got %s", asked)
	}
	r.events.mu.Lock()
	before := len(r.events.calls)
	r.events.mu.Unlock()
	token := strings.Trim(string(sealed), `"`)
	const answer = `"inputResponses":{"k":{"action":"accept"}}`
	for name, in := range map[string]string{
		"other arguments":        `{"name":"ask","arguments":{"a":2,"b":[1.0]},` + answer + `,"requestState":"` + token + `"}`,
		"a number spelled other": `{"name":"ask","arguments":{"a":1,"b":[1]},` + answer + `,"requestState":"` + token + `"}`,
		"another tool":           `{"name":"only","arguments":{"a":1,"b":[1.0]},` + answer + `,"requestState":"` + token + `"}`,
		"changed":                `{"name":"ask","arguments":{"a":1,"b":[1.0]},` + answer + `,"requestState":"` + altered(token) + `"}`,
		"the workload's own":     `{"name":"ask","arguments":{"a":1,"b":[1.0]},` + answer + `,"requestState":"inner A"}`,
		"no string":              `{"name":"ask","arguments":{"a":1,"b":[1.0]},` + answer + `,"requestState":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			m.r.t = t
			m.want("tools/call", in, `{"code":-32602,"message":"requestState is not valid for this request"}`)
		})
	}
	m.r.t = t
	r.events.mu.Lock()
	if n := len(r.events.calls) - before; n != 0 {
		t.Errorf("the workload was asked %d times", n)
	}
	r.events.mu.Unlock()
	// The same request, re-spelled, with another id: the state goes back as it
	// came, byte for byte.
	r2 := m.call("tools/call", `{ "arguments":{"b":[1.0],"a":1},"name":"\u0061sk",`+answer+`,"requestState":`+string(sealed)+`}`)
	if !strings.Contains(r2, `"resultType":"input_required"`) {
		t.Error(r2)
	}
	m.want("tools/call", `{"name":"only"}`, `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}}`)
	// Questions that the client did not declare to answer.
	m.want("tools/call", `{"name":"other"}`, `{"code":-32021,"message":"the workload asks for what the client did not declare","data":{"requiredCapabilities":{"sampling":{}}}}`)
	m.want("tools/call", `{"name":"url"}`, `{"code":-32021,"message":"the workload asks for what the client did not declare","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`)
}

// altered is a token with another character in its middle: in the last one not
// all bits may count.
func altered(token string) string {
	at, other := len(token)/2, "A"
	if token[at] == 'A' {
		other = "B"
	}
	return token[:at] + other + token[at+1:]
}

func TestTheStateGoesBackAsItCame(t *testing.T) { // B9.1, W32.14
	r := serveAs(t, stateless(script{
		"tools/call:ask": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","requestState":"inner \u0041","saw":$LINE}}`},
	}), upstream.EraModern)
	m := r.modern()
	first := m.call("tools/call", `{"name":"ask"}`)
	sealed, _ := strictjson.Get([]byte(first), "requestState")
	second := m.call("tools/call", `{"name":"ask","requestState":`+string(sealed)+`}`)
	if got := params(t, saw([]byte(second))); got != `{"name":"ask","requestState":"inner \u0041","_meta":{}}` {
		t.Errorf("the workload saw %s", got)
	}
}
