package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

func TestInitializeInTheWorkloadsPlace(t *testing.T) { // B4.6, B4.7, B4.8
	r := serveAs(t, stateless(nil), upstream.EraModern)
	const (
		with    = `{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":true},"completions":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`
		without = `{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":true},"extensions":{"io.modelcontextprotocol/ui":{}}}`
	)
	for offered, want := range map[string][2]string{
		"2024-11-05": {"2024-11-05", without}, "2025-03-26": {"2025-03-26", with}, "2025-06-18": {"2025-06-18", with},
		"2025-11-25": {"2025-11-25", with}, "2026-07-28": {"2025-11-25", with}, "1999-01-01": {"2025-11-25", with},
	} {
		_, got := r.initialize(offered, `{}`)
		if text := `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"` + want[0] + `","capabilities":` + want[1] + `,"serverInfo":{"name":"new","version":"7"},"instructions":"be kind"}}`; got != text {
			t.Errorf("%s:\ngot  %s\nwant %s", offered, got, text)
		}
	}
	if r.child.starts != 1 {
		t.Errorf("%d processes for %d sessions", r.child.starts, 6)
	}
}

func TestAWorkloadWithoutAName(t *testing.T) { // B4.7
	r := serveAs(t, stateless(script{"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}`}}), upstream.EraModern)
	if _, got := r.initialize("2025-06-18", `{}`); got != `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"fallback","version":"9"}}}` {
		t.Error(got)
	}
}

func TestADraftsDiscoverResult(t *testing.T) { // B1.6
	r := serveAs(t, stateless(script{"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"draft","version":"1"}}}`}}), upstream.EraModern)
	if _, got := r.initialize("2025-06-18", `{}`); got != `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"draft","version":"1"}}}` {
		t.Error(got)
	}
}

func TestTheEnvelopeOfALegacyClient(t *testing.T) { // B4.9, B5.2, B5.4, B12.1, W36.21
	r := serveAs(t, stateless(nil), upstream.EraModern)
	for name, tc := range map[string]struct{ revision, in, want string }{
		"nothing":                      {"2025-06-18", `{}`, `{}`},
		"roots lose what nobody hears": {"2025-06-18", `{"roots":{"listChanged":true}}`, `{"roots":{}}`},
		"sampling as it is":            {"2025-11-25", `{"sampling":{"tools":{"x":1.0}}}`, `{"sampling":{"tools":{"x":1.0}}}`},
		"elicitation of 2025-06-18":    {"2025-06-18", `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`},
		"elicitation without modes":    {"2025-11-25", `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`},
		"elicitation with modes":       {"2025-11-25", `{"elicitation":{"url":{}}}`, `{"elicitation":{"url":{}}}`},
		"elicitation before it was":    {"2025-03-26", `{"elicitation":{}}`, `{}`},
		"tasks are not served":         {"2025-11-25", `{"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}}}`, `{"extensions":{"x/y":{}}}`},
		"what is new passes":           {"2024-11-05", `{"experimental":{"a":1e2},"vendor":{}}`, `{"experimental":{"a":1e2},"vendor":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := r.initialize(tc.revision, tc.in)
			line := saw([]byte(c.call("tools/call", `{"name":"x","_meta":{"a.b/c":1.0,"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/model-immediate-response":"w","progressToken":1e0},"arguments":null,"task":{},"inputResponses":{},"requestState":"forged"}`)))
			got, _ := strictjson.Get([]byte(line), "params")
			want := `{"name":"x","_meta":{"a.b/c":1.0,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + tc.want +
				`,"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}},"arguments":{}}`
			if string(got) != want {
				t.Errorf("the workload saw\n%s, want\n%s", got, want)
			}
		})
	}
}

func TestResultsOfModernWorkloadsForLegacyClients(t *testing.T) { // B0.1, B5.6, B14.1, B14.3, B14.7
	r := serveAs(t, stateless(script{
		"tools/list":          {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","tools":[{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}],"ttlMs":5,"cacheScope":"public","nextCursor":"c","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"},"x":1.0}}}`},
		"tools/list@c":        {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}`},
		"resources/read":      {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","contents":[],"ttlMs":5,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"},"dev.fairlead/x":1}}}`},
		"tools/call:n":        {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[{"type":"text","text":"t"}],"structuredContent":[1.0],"ttlMs":1}}`},
		"tools/call:link":     {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"resource_link","name":"n","uri":"a:b"}]}}`},
		"tools/call:bad":      {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[{"type":"text","text":"n must be a number"}],"isError":true}}`},
		"tools/call:what":     {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"surprise"}}`},
		"tools/call:task":     {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task"}}`},
		"completion/complete": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","completion":{"values":[]}}}`},
	}), upstream.EraModern)
	d, _ := r.initialize("2025-11-25", `{}`)
	d.want("tools/list", ``, `{"tools":[{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]}}],"nextCursor":"c","_meta":{"x":1.0}}`)
	d.want("tools/list", `{"cursor":"c"}`, `{"tools":[]}`)
	d.want("resources/read", `{"uri":"a:b"}`, `{"contents":[]}`)
	d.want("tools/call", `{"name":"n"}`, `{"content":[{"type":"text","text":"t"}],"structuredContent":{"result":[1.0]},"ttlMs":1}`)
	d.want("tools/call", `{"name":"link"}`, `{"content":[{"type":"resource_link","name":"n","uri":"a:b"}]}`)
	d.want("tools/call", `{"name":"bad"}`, `{"content":[{"type":"text","text":"n must be a number"}],"isError":true}`)
	d.want("completion/complete", `{}`, `{"completion":{"values":[]}}`)
	for _, name := range []string{"what", "task"} {
		d.want("tools/call", `{"name":"`+name+`"}`, `{"code":-32603,"message":"unsupported result type from workload","data":{"reason":"bad_response"}}`)
	}
	b, _ := r.initialize("2025-03-26", `{}`)
	b.want("tools/list", ``, `{"tools":[{"name":"n","inputSchema":{"type":"object"}}],"nextCursor":"c","_meta":{"x":1.0}}`)
	b.want("tools/call", `{"name":"link"}`, `{"content":[{"type":"text","text":"n: a:b"}]}`)
	b.want("tools/call", `{"name":"n"}`, `{"content":[{"type":"text","text":"t"}],"ttlMs":1}`)
}

func TestErrorsOfModernWorkloadsForLegacyClients(t *testing.T) { // B19.1, B16
	fail := func(text string) []string { return []string{`{"jsonrpc":"2.0","id":$ID,"error":` + text + `}`} }
	r := serveAs(t, stateless(script{
		"resources/read":    fail(`{"code":-32602,"message":"m","data":{"uri":"a:b"}}`),
		"prompts/get":       fail(`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`),
		"prompts/list":      fail(`{"code":-32601,"message":"m"}`),
		"tools/call:lacks":  fail(`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{},"roots":{}}}}`),
		"tools/call:header": fail(`{"code":-32020,"message":"m"}`),
		"tools/call:rev":    fail(`{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`),
		"tools/call:params": fail(`{"code":-32602,"message":"m","data":{"n":1.0}}`),
	}), upstream.EraModern)
	c := r.legacy()
	c.want("resources/read", `{"uri":"a:b"}`, `{"code":-32002,"message":"m","data":{"uri":"a:b"}}`)
	c.want("resources/read", `{"uri":"a:c"}`, `{"code":-32602,"message":"m","data":{"uri":"a:b"}}`)
	c.want("prompts/get", `{"name":"x"}`, `{"code":-32603,"message":"the workload needs a capability that the client does not have","data":{"reason":"missing_capability"}}`)
	c.want("tools/call", `{"name":"lacks"}`, `{"content":[{"type":"text","text":"the tool needs something that this client does not have: sampling, roots"}],"isError":true}`)
	c.want("tools/call", `{"name":"header"}`, `{"code":-32603,"message":"the workload refused the request's headers","data":{"reason":"header_mismatch"}}`)
	c.want("tools/call", `{"name":"rev"}`, `{"code":-32603,"message":"the workload refused the protocol revision","data":{"reason":"unsupported_revision"}}`)
	c.want("tools/call", `{"name":"params"}`, `{"code":-32602,"message":"m","data":{"n":1.0}}`)
	res := c.request("1", "prompts/list", "").rest()
	if res.status != 200 || res.messages[0] != `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}` { // B2.3
		t.Errorf("%d %v", res.status, res.messages)
	}
}

func TestTheLogLevelOfASession(t *testing.T) { // B11.2, W23.4
	log := func(level string) string {
		return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":1.0}}`
	}
	r := serveAs(t, stateless(script{"tools/call": {log("info"), log("error"), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE}}`}}), upstream.EraModern)
	c := r.legacy()
	if res := c.request("1", "tools/call", `{"name":"x"}`).rest(); len(res.messages) != 1 || strings.Contains(res.messages[0], "logLevel") {
		t.Error(res.messages)
	}
	c.want("logging/setLevel", `{"level":"loud"}`, `{"code":-32602,"message":"unknown log level"}`)
	c.want("logging/setLevel", `{"level":"warning"}`, `{}`)
	res := c.request("1", "tools/call", `{"name":"x"}`).rest()
	if len(res.messages) != 2 || res.messages[0] != log("error") || !strings.Contains(res.messages[1], `"io.modelcontextprotocol/logLevel":"warning"`) {
		t.Error(res.messages)
	}
	// Another session has its own, and none at first.
	if res := r.legacy().request("1", "tools/call", `{"name":"x"}`).rest(); len(res.messages) != 1 {
		t.Error(res.messages)
	}
}

func TestWhatASessionCanDoWithoutTheWorkload(t *testing.T) { // B11.7, B11.8, section 13
	r := serveAs(t, stateless(nil), upstream.EraModern)
	c := r.legacy()
	c.want("ping", ``, `{}`)
	for _, method := range []string{"notifications/initialized", "notifications/roots/list_changed", "notifications/vendor"} {
		if res := c.post(`{"jsonrpc":"2.0","method":"` + method + `"}`); res.status != 202 {
			t.Errorf("%s: %d", method, res.status)
		}
	}
	if got := saw([]byte(c.call("vendor/method", `{"a":1.0}`))); !strings.Contains(got, `"method":"vendor/method","params":{"a":1.0,"_meta":{`) {
		t.Error(got)
	}
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if got := strings.Join(r.events.calls, ","); got != "vendor/method" {
		t.Errorf("the workload was asked %s", got)
	}
}

func TestProgressForLegacyClientsOfModernWorkloads(t *testing.T) { // B11.4
	r := serveAs(t, stateless(script{"tools/call": {
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1.0,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
	}}), upstream.EraModern)
	for revision, want := range map[string]string{
		"2024-11-05": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.0}}`,
		"2025-03-26": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.0,"message":"m"}}`,
	} {
		c, _ := r.initialize(revision, `{}`)
		if res := c.request("1", "tools/call", `{"name":"x","_meta":{"progressToken":"t"}}`).rest(); len(res.messages) != 2 || res.messages[0] != want {
			t.Errorf("%s: %v", revision, res.messages)
		}
	}
}
