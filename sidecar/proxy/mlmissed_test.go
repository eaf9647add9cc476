package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
)

// B7.14: what a call says while its client is asked has no carrier. Logs are
// gone, the newest progress comes first on the retry, under the retry's token,
// and what comes then goes on from there (B7.9).
func TestWhatACallSaysWhileItsClientIsAsked(t *testing.T) {
	goOn, dropped := make(chan struct{}), make(chan string, 10)
	s := &site{}
	s.serve = func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		token, _ := strictjson.Get(m.Meta, "progressToken")
		say := func(params string) {
			event(w, m, `data: {"jsonrpc":"2.0","method":"notifications/`+params+"}\n\n")
		}
		at := func(n string) { say(`progress","params":{"progressToken":` + string(token) + `,"progress":` + n + `}`) }
		at("1")
		event(w, m, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\",\"requestedSchema\":{}}}\n\n")
		<-goOn
		at("2")
		at("3")
		say(`message","params":{"level":"error","data":"lost"}`)
		<-s.answers
		at("3")
		at("4")
		event(w, m, "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}\n\n")
	}
	r := behind(t, s, func(c *proxy.Config) { c.Hooks.Lossy = func(reason string) { dropped <- reason } })
	params := func(token string) string {
		return `{"name":"x","_meta":{"progressToken":` + token + `,"io.modelcontextprotocol/logLevel":"debug"}}`
	}
	progress := func(token, n string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + n + `}}`
	}
	c := r.modern()
	first := c.request("1", "tools/call", params(`"one"`)).rest()
	if len(first.messages) != 2 || first.messages[0] != progress(`"one"`, "1") {
		t.Fatal(first.messages)
	}
	result, _ := strings.CutPrefix(first.messages[1], `{"jsonrpc":"2.0","id":1,"result":`)
	_, state := questionsOf(t, strings.TrimSuffix(result, "}"))
	close(goOn)
	if reason := <-dropped; reason != proxy.LossyLog {
		t.Errorf("dropped as %s", reason)
	}
	second := c.request("2", "tools/call", again(params("7"), `{"elicitation-1":{"action":"decline"}}`, state)).rest()
	got := second.messages
	if len(got) == 3 && got[0] == progress("7", "3") {
		got = got[1:] // unless the next one came before the retry was listening
	}
	if len(got) != 2 || got[0] != progress("7", "4") || !strings.HasPrefix(got[1], `{"jsonrpc":"2.0","id":2,"result":{"content":[]`) {
		t.Errorf("%q", second.messages)
	}
}
