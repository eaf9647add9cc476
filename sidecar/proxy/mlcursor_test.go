package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const refusedCursor = `{"code":-32602,"message":"the cursor is not valid here"}`

// paged is a server whose lists have two pages.
func paged() script {
	return plain(script{
		"tools/list":     {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"nextCursor":"secret \u0041"}}`},
		"prompts/list":   {`{"jsonrpc":"2.0","id":$ID,"result":{"prompts":[],"nextCursor":"other"}}`},
		"tools/call:die": {"!exit 1"},
	})
}

func cursorOf(t *testing.T, result string) string {
	t.Helper()
	raw, ok := strictjson.Get([]byte(result), "nextCursor")
	if !ok {
		t.Fatalf("no cursor: %s", result)
	}
	return string(raw)
}

// B11.12, B0.6, B0.7, W22.2: a cursor of a process of one key leads on in that
// process, for that list, in its own spelling; anywhere else it is refused
// without asking.
func TestCursorsAreThoseOfTheProcessThatGaveThem(t *testing.T) {
	s := paged()
	s["tools/list@secret A"] = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"saw":$LINE}}`}
	r := serve(t, s)
	c := r.declaring("{}")
	cursor := cursorOf(t, c.call("tools/list", ""))
	if strings.Contains(cursor, "secret") || cursor == cursorOf(t, c.call("tools/list", "")) {
		t.Errorf("the cursor shows or repeats: %s", cursor)
	}
	if got := saw([]byte(c.call("tools/list", `{"cursor":`+cursor+`}`))); !strings.HasSuffix(got, `"params":{"cursor":"secret \u0041"}}`) {
		t.Errorf("the workload saw %s", got)
	}
	c.want("prompts/list", `{"cursor":`+cursor+`}`, refusedCursor)
	c.want("tools/list", `{"cursor":"secret A"}`, refusedCursor)
	c.want("tools/list", `{"cursor":5}`, refusedCursor)
	r.declaring(`{"sampling":{}}`).want("tools/list", `{"cursor":`+cursor+`}`, refusedCursor) // another process
	c.call("tools/call", `{"name":"die"}`)
	c.want("tools/list", `{"cursor":`+cursor+`}`, refusedCursor)
	cursorOf(t, c.call("tools/list", `{"cursor":null}`))

	// Legacy sessions and modern workloads give their own.
	serve(t, s).legacy().want("prompts/list", "", `{"prompts":[],"nextCursor":"other"}`)
	modern := serveAs(t, stateless(script{"prompts/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","prompts":[],"nextCursor":"own","ttlMs":0,"cacheScope":"private"}}`}}), upstream.EraModern).modern()
	if got := cursorOf(t, modern.call("prompts/list", "")); got != `"own"` {
		t.Error(got)
	}
}

// B11.12: a cursor that cannot be carried ends the list, and is counted.
func TestACursorThatIsTooLong(t *testing.T) {
	s := paged()
	s["tools/list"] = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"nextCursor":"` + strings.Repeat("x", 20<<10) + `"}}`}
	dropped := make(chan string, 1)
	c := serveAs(t, s, upstream.EraLegacy, func(c *proxy.Config) { c.Hooks.Lossy = func(reason string) { dropped <- reason } }).declaring("{}")
	if got := c.call("tools/list", ""); strings.Contains(got, "nextCursor") {
		t.Errorf("%.200s", got)
	}
	if reason := <-dropped; reason != proxy.LossyCursor {
		t.Error(reason)
	}
}
