package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// soon promotes calls that take longer than a moment.
func soon(c *proxy.Config) { c.Promote = 50 * time.Millisecond }

// later is when what is quick has long been done, however busy the machine.
func later(c *proxy.Config) { c.Promote = time.Second }

// ask makes a request with the extension declared.
func (c *client) ask(method, params string) string {
	c.r.t.Helper()
	defer func(caps string) { c.caps = caps }(c.caps)
	c.caps = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	return c.call(method, params)
}

// soonIs asks for a task until it has a status.
func (c *client) soonIs(id, status string) string {
	c.r.t.Helper()
	got := ""
	for range 2000 {
		got = c.ask("tasks/get", `{"taskId":`+id+`}`)
		if member(got, "status") == `"`+status+`"` {
			return got
		}
		time.Sleep(time.Millisecond)
	}
	c.r.t.Fatalf("never %s: %s", status, got)
	return ""
}

// slow asks, long after it was called, and answers with what it was told.
var slow = script{
	"tools/call:slow": {
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"half"}}`,
		"!sleep 300",
		`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`,
		"!await response",
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"calls":$NTH}}`,
	},
	"tools/call:quick": {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
}

func TestALongCallBecomesATask(t *testing.T) { // B12.15, W36.6, W36.8, W36.9, W36.10, W36.13
	r := withTasks(t, plain(slow), upstream.EraLegacy, soon)
	c := r.modern()
	c.user = "ann"
	if got := c.call("server/discover", ""); member(got, "capabilities", "extensions") != `{"io.modelcontextprotocol/tasks":{}}` {
		t.Errorf("not offered: %s", got)
	}
	made := c.ask("tools/call", `{"name":"slow"}`)
	id := c.started(made)
	if member(made, "resultType") != `"task"` || member(made, "status") != `"working"` || member(made, "inputRequests") != "" {
		t.Errorf("made %s", made)
	}
	asked := c.soonIs(id, "input_required")
	if got := member(asked, "inputRequests", "elicitation-1", "method"); got != `"elicitation/create"` {
		t.Errorf("asked %s", asked)
	}
	if got := c.ask("tasks/update", `{"taskId":`+id+`,"inputResponses":{"unknown":{},"elicitation-1":{"action":"perhaps"}}}`); member(got, "code") != "-32602" {
		t.Error(got)
	}
	if got := c.ask("tasks/update", `{"taskId":`+id+`,"inputResponses":{"elicitation-1":{"action":"decline"}}}`); got != `{"resultType":"complete"}` {
		t.Error(got)
	}
	done := c.soonIs(id, "completed")
	if member(done, "result", "calls") != "1" || member(done, "result", "content") != `[]` {
		t.Errorf("it did not run once: %s", done)
	}
	// W36.14: cancelling what is over is nothing special.
	if got := c.ask("tasks/cancel", `{"taskId":`+id+`}`); got != `{"resultType":"complete"}` {
		t.Error(got)
	}
	c.soonIs(id, "completed")
}

func TestWhatDoesNotBecomeATask(t *testing.T) { // B12.15, W36.2, W36.3
	r := withTasks(t, plain(script{
		"tools/call:quick": slow["tools/call:quick"],
		"tools/call:late":  {"!sleep 1500", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
		"tools/call:asks":  {`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}`, "!await response", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}), upstream.EraLegacy, later)
	c := r.modern()
	if got := c.ask("tools/call", `{"name":"quick"}`); member(got, "resultType") != `"complete"` {
		t.Errorf("a quick call: %s", got)
	}
	if got := c.call("tools/call", `{"name":"late"}`); member(got, "resultType") != `"complete"` {
		t.Errorf("without the extension: %s", got)
	}
	if got := c.ask("tools/call", `{"name":"asks"}`); member(got, "resultType") != `"input_required"` {
		t.Errorf("a call that asks at once: %s", got) // an answer that asks wins
	}
	off := withTasks(t, plain(nil), upstream.EraLegacy)
	never := off.modern()
	if got := never.call("server/discover", ""); strings.Contains(got, "io.modelcontextprotocol/tasks") {
		t.Errorf("offered where nothing is promoted: %s", got)
	}
	if got := never.ask("tasks/get", `{"taskId":"x"}`); member(got, "code") != "-32601" {
		t.Error(got)
	}
}

func TestTheLastRoundBecomesATask(t *testing.T) { // B12.15, W36.9
	r := withTasks(t, plain(script{
		"tools/call:asks": {
			`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}`,
			"!await response",
			"!sleep 1500",
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"calls":$NTH}}`,
		},
	}), upstream.EraLegacy, later)
	c := r.modern()
	first := c.ask("tools/call", `{"name":"asks"}`)
	state := member(first, "requestState")
	if state == "" {
		t.Fatalf("no round: %s", first)
	}
	retry := `{"name":"asks","inputResponses":{"elicitation-1":{"action":"accept","content":{}}},"requestState":` + state + `}`
	made := c.ask("tools/call", retry)
	id := c.started(made)
	if again := c.ask("tools/call", retry); again != made { // P20
		t.Errorf("the same retry got %s", again)
	}
	if done := c.soonIs(id, "completed"); member(done, "result", "calls") != "1" {
		t.Error(done)
	}
}

func TestAPromotedCallIsCancelled(t *testing.T) { // B12.13, B12.15
	r := withTasks(t, plain(script{
		"tools/call:stuck": {"!await notifications/cancelled", "!exit 7"},
	}), upstream.EraLegacy, soon)
	c := r.modern()
	id := c.started(c.ask("tools/call", `{"name":"stuck"}`))
	if got := c.ask("tasks/cancel", `{"taskId":`+id+`}`); got != `{"resultType":"complete"}` {
		t.Error(got)
	}
	select {
	case <-r.ends: // it got notifications/cancelled
	case <-time.After(10 * time.Second):
		t.Error("the workload was not told")
	}
	c.soonIs(id, "cancelled")
}

func TestAPromotedCallIsLostWithItsProcess(t *testing.T) { // B12.16
	r := withTasks(t, plain(script{"tools/call:dies": {"!sleep 300", "!exit 7"}}), upstream.EraLegacy, soon)
	c := r.modern()
	id := c.started(c.ask("tools/call", `{"name":"dies"}`))
	if got := c.soonIs(id, "failed"); member(got, "error", "data", "reason") != `"workload_restarted"` {
		t.Error(got)
	}
}

func TestPromotedCallsOfOthersAreUnknown(t *testing.T) { // B19.5, B12.9, B12.14, B0.6, W36.15
	r := withTasks(t, plain(script{"tools/call:late": {"!sleep 200", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`}}), upstream.EraLegacy, soon)
	ann, bob := r.modern(), r.modern()
	ann.user, bob.user = "ann", "bob"
	id := ann.started(ann.ask("tools/call", `{"name":"late"}`))
	for _, c := range []*client{bob, r.modern()} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if got := c.ask(method, `{"taskId":`+id+`,"inputResponses":{}}`); got != `{"code":-32602,"message":"unknown task"}` {
				t.Errorf("%s: %s", method, got)
			}
		}
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if got := ann.call(method, `{"taskId":`+id+`}`); got != `{"code":-32021,"message":"the client did not declare the tasks extension","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}` {
			t.Errorf("%s without the extension: %s", method, got)
		}
	}
	for _, method := range []string{"tasks/result", "tasks/list"} { // B12.14
		if got := ann.ask(method, `{"taskId":`+id+`}`); member(got, "code") != "-32601" {
			t.Errorf("%s: %s", method, got)
		}
	}
	ann.soonIs(id, "completed")
}
