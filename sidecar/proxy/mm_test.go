package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const discoverResult = `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":true},"completions":{},"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{}}},"instructions":"be kind","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"7"}}`

// stateless is a modern workload with a tool, which the tests vary.
func stateless(more script) script {
	s := script{
		"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{` + discoverResult + `,"ttlMs":0,"cacheScope":"private","nth":$NTH}}`},
		"tools/list":      {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object"}}],"ttlMs":5,"cacheScope":"public"}}`},
		"*":               {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","saw":$LINE}}`},
	}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// envelope is what the test's client sends besides, in any order.
func params(t *testing.T, line string) string {
	t.Helper()
	raw, ok := strictjson.Get([]byte(line), "params")
	if !ok {
		t.Fatalf("no params in %s", line)
	}
	bare, err := strictjson.Splice(raw,
		strictjson.Delete("_meta", "io.modelcontextprotocol/clientInfo"),
		strictjson.Delete("_meta", "io.modelcontextprotocol/clientCapabilities"),
		strictjson.Delete("_meta", "io.modelcontextprotocol/protocolVersion"))
	if err != nil {
		t.Fatal(err)
	}
	return string(bare)
}

func TestModernRequestsPassAsTheyAre(t *testing.T) { // B0.2, B3.5, B3.6, B5.2, B5.3, B5.4, B11.12
	r := serveAs(t, stateless(nil), upstream.EraModern)
	m := r.modern()
	for name, tc := range map[string]struct{ in, want string }{
		"numbers, order, unknown members": {`{"z":1.0,"name":"x","arguments":{"b":1e2,"a":null},"_meta":{"com.x/y":[1.0]}}`, `{"z":1.0,"name":"x","arguments":{"b":1e2,"a":null},"_meta":{"com.x/y":[1.0]}}`},
		"what only we may set goes":       {`{"name":"x","_meta":{"dev.fairlead/id":"forged","io.modelcontextprotocol/serverInfo":{"name":"f"}}}`, `{"name":"x","_meta":{}}`},
		"answers without a state pass":    {`{"name":"x","inputResponses":{"k":{"action":"accept"}}}`, `{"name":"x","inputResponses":{"k":{"action":"accept"}},"_meta":{}}`},
		"a progress token is our own":     {`{"name":"x","_meta":{"progressToken":"mine"}}`, `{"name":"x","_meta":{"progressToken":$OURS}}`},
		"null arguments":                  {`{"name":"x","arguments":null}`, `{"name":"x","arguments":{},"_meta":{}}`},
		"or none at all":                  {`{"name":"x","_meta":{"progressToken":1e0}}`, `{"name":"x","_meta":{}}`},
		"what died with legacy tasks":     {`{"name":"x","_meta":{"io.modelcontextprotocol/model-immediate-response":"w","io.modelcontextprotocol/related-task":{"taskId":"t"}}}`, `{"name":"x","_meta":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			line := saw([]byte(m.call("tools/call", tc.in)))
			id, _ := strictjson.Get([]byte(line), "id")
			if got, want := params(t, line), strings.ReplaceAll(tc.want, "$OURS", string(id)); got != want {
				t.Errorf("the workload saw\n%s, want\n%s", got, want)
			}
			for key, value := range map[string]string{"protocolVersion": `"2026-07-28"`, "clientCapabilities": `{"elicitation":{}}`, "clientInfo": `{"name":"t","version":"0"}`} {
				if got, _ := strictjson.GetPath([]byte(line), "params", "_meta", "io.modelcontextprotocol/"+key); string(got) != value {
					t.Errorf("%s is %s", key, got)
				}
			}
		})
	}
	if got := params(t, saw([]byte(m.call("prompts/list", `{"cursor":"a\u0062c"}`)))); got != `{"cursor":"a\u0062c","_meta":{}}` {
		t.Errorf("a cursor: the workload saw %s", got)
	}
	if r.child.starts != 1 {
		t.Errorf("%d processes", r.child.starts)
	}
}

func TestModernResultsPassAsTheyAre(t *testing.T) { // B5.6, B11.13, P14, W3.1, W32.3, W34.1
	r := serveAs(t, stateless(script{
		"tools/call:odd":      {`{"jsonrpc":"2.0","id":$ID,"result":{"z":1.0,"resultType":"complete","content":[{"type":"new","n":1e2}],"_meta":{"dev.fairlead/x":1,"y":2}}}`},
		"tools/call:bare":     {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
		"tools/call:what":     {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"surprise"}}`},
		"tools/call:null":     {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":null}}`},
		"tools/call:task":     {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task","taskId":"1"}}`},
		"tools/call:empty":    {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required"}}`},
		"resources/read":      {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","contents":[],"ttlMs":70,"cacheScope":"public"}}`},
		"prompts/list":        {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","prompts":[],"ttlMs":-1,"cacheScope":"everybody"}}`},
		"resources/list":      {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","resources":[]}}`},
		"completion/complete": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","requestState":"s"}}`},
	}), upstream.EraModern)
	m := r.modern()
	m.want("tools/call", `{"name":"odd"}`, `{"z":1.0,"resultType":"complete","content":[{"type":"new","n":1e2}],"_meta":{"y":2}}`)
	m.want("tools/call", `{"name":"bare"}`, `{"content":[],"resultType":"complete"}`)
	for _, name := range []string{"what", "null", "task"} {
		m.want("tools/call", `{"name":"`+name+`"}`, `{"code":-32603,"message":"unsupported result type from workload","data":{"reason":"bad_response"}}`)
	}
	const bad = `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`
	m.want("tools/call", `{"name":"empty"}`, bad)
	m.want("completion/complete", `{}`, bad)
	m.want("tools/list", ``, `{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object"}}],"ttlMs":5,"cacheScope":"public"}`)
	m.want("resources/read", `{"uri":"a:b"}`, `{"resultType":"complete","contents":[],"ttlMs":70,"cacheScope":"public"}`)
	m.want("resources/read", `{"uri":"a:b","inputResponses":{}}`, `{"resultType":"complete","contents":[],"ttlMs":0,"cacheScope":"private"}`)
	m.want("prompts/list", ``, `{"resultType":"complete","prompts":[],"ttlMs":0,"cacheScope":"private"}`)
	m.want("resources/list", ``, `{"resultType":"complete","resources":[],"ttlMs":0,"cacheScope":"private"}`)
	if strings.Join(r.events.names, ",") != "a" {
		t.Errorf("tools %v", r.events.names)
	}
}

func TestRepairsOfModernWorkloads(t *testing.T) { // R4, R8, P14, B14.2, W24.8
	r := serveAs(t, stateless(script{
		"tools/call:none":       {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete"}}`},
		"tools/call:null":       {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":null,"isError":null,"_meta":null}}`},
		"tools/call:structured": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","structuredContent":{"n":1.0,"x":null}}}`},
		"tools/list":            {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","tools":[{"name":"a","title":null,"inputSchema":{"x":null},"outputSchema":{"enum":[1.0]}}],"nextCursor":null,"ttlMs":0,"cacheScope":"private"}}`},
	}), upstream.EraModern)
	d, _ := r.initialize("2025-11-25", `{}`)
	b, _ := r.initialize("2025-03-26", `{}`)
	for name, c := range map[string]*client{"modern": r.modern(), "2025-11-25": d, "2025-03-26": b} {
		for _, tc := range []struct{ tool, members string }{
			{"none", `"content":[]`},
			{"null", `"content":[]`},
			{"structured", `"structuredContent":{"n":1.0,"x":null},"content":[{"type":"text","text":"{\"n\":1.0,\"x\":null}"}]`},
		} {
			want := `{` + tc.members + `}`
			switch name {
			case "modern":
				want = `{"resultType":"complete",` + tc.members + `}`
			case "2025-03-26":
				want = strings.Replace(want, `"structuredContent":{"n":1.0,"x":null},`, "", 1)
			}
			if got := c.call("tools/call", `{"name":"`+tc.tool+`"}`); got != want {
				t.Errorf("%s to %s:\ngot  %s\nwant %s", tc.tool, name, got, want)
			}
		}
		if got := c.call("tools/list", ""); strings.Contains(got, `"title"`) || strings.Contains(got, "nextCursor") || !strings.Contains(got, `"inputSchema":{"x":null,"type":"object"}`) {
			t.Errorf("a list to %s: %s", name, got)
		}
	}
}

func TestDiscoverIsTheWorkloadsOwn(t *testing.T) { // B4.4, B4.6, W34.2, W34.4
	const ours = `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`
	for name, tc := range map[string]struct {
		hints string
		same  bool
	}{
		"no time to live":    {`,"ttlMs":0,"cacheScope":"public"`, false},
		"kept for everybody": {`,"ttlMs":60000,"cacheScope":"public"`, true},
		"kept for the one":   {`,"ttlMs":60000,"cacheScope":"private"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveAs(t, stateless(script{"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{` + discoverResult + tc.hints + `,"nth":$NTH}}`}}), upstream.EraModern)
			m := r.modern()
			first, second := m.call("server/discover", ""), m.call("server/discover", "")
			for _, got := range []string{first, second} {
				if !strings.Contains(got, `"supportedVersions":`+ours) || !strings.Contains(got, `"io.modelcontextprotocol/serverInfo":{"name":"new","version":"7"}`) || !strings.Contains(got, `"instructions":"be kind"`) {
					t.Error(got)
				}
			}
			nth := func(raw string) string { n, _ := strictjson.Get([]byte(raw), "nth"); return string(n) }
			if (nth(first) == nth(second)) != tc.same {
				t.Errorf("answers %s and %s", nth(first), nth(second))
			}
			if other := m.call("server/discover", `{"_meta":{"com.x/locale":"de"}}`); nth(other) == nth(first) {
				t.Error("another question got the same answer")
			}
		})
	}
}

func TestErrorsOfModernWorkloadsForModernClients(t *testing.T) { // B19.1, B16, W2.4
	fail := func(text string) []string { return []string{`{"jsonrpc":"2.0","id":$ID,"error":` + text + `}`} }
	r := serveAs(t, stateless(script{
		"tools/call:plain":    fail(`{"code":-32602,"message":"m","data":{"n":1.0}}`),
		"tools/call:headers":  fail(`{"code":-32020,"message":"m"}`),
		"tools/call:revision": fail(`{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`),
		"tools/call:lacks":    fail(`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`),
		"tools/call:has":      fail(`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}`),
		"tools/call:url":      fail(`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`),
		"tools/call:reserved": fail(`{"code":-32042,"message":"m","data":{"x":1}}`),
		"tools/call:own":      fail(`{"code":-32000,"message":"m"}`),
	}), upstream.EraModern)
	m := r.modern()
	for name, want := range map[string]string{
		"plain":    `{"code":-32602,"message":"m","data":{"n":1.0}}`,
		"headers":  `{"code":-32603,"message":"the workload refused the request's headers","data":{"reason":"header_mismatch"}}`,
		"revision": `{"code":-32603,"message":"the workload refused the protocol revision","data":{"reason":"unsupported_revision"}}`,
		"lacks":    `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`,
		"has":      `{"code":-32603,"message":"the workload insists on what the client has declared","data":{"reason":"missing_capability"}}`,
		"url":      `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`,
		"reserved": `{"code":-32603,"message":"m","data":{"originalCode":-32042,"originalData":{"x":1}}}`,
		"own":      `{"code":-32000,"message":"m"}`,
	} {
		m.want("tools/call", `{"name":"`+name+`"}`, want)
	}
}

func TestTheWorkloadDiesDuringACall(t *testing.T) { // B3.8
	r := serveAs(t, stateless(script{
		"tools/call:die": {"!exit 1"},
		"prompts/list":   {"!exit 1"},
	}), upstream.EraModern)
	m := r.modern()
	m.want("tools/call", `{"name":"die"}`, `{"code":-32603,"message":"the workload ended before it answered","data":{"reason":"workload_restarted"}}`)
	if got := saw([]byte(m.call("tools/call", `{"name":"x"}`))); !strings.Contains(got, `"name":"x"`) {
		t.Error(got)
	}
	if r.child.starts != 2 {
		t.Errorf("%d processes", r.child.starts)
	}
	// What only reads is asked once more, and no more.
	m.want("prompts/list", ``, `{"code":-32603,"message":"the workload ended before it answered","data":{"reason":"workload_restarted"}}`)
	if r.child.starts != 3 {
		t.Errorf("%d processes", r.child.starts)
	}
}

func TestLogsAndProgressOfModernCalls(t *testing.T) { // B11.1, B11.4, W23.5, W33.1
	log := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"i"}}`
	r := serveAs(t, stateless(script{"tools/call": {
		log,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"d"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1.0}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","id":"x","method":"ping"}`,
		`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[]}}`,
	}}), upstream.EraModern)
	res := r.modern().request("1", "tools/call", `{"name":"x","_meta":{"progressToken":"t","io.modelcontextprotocol/logLevel":"info"}}`).rest()
	if want := []string{log, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.0}}`, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`}; strings.Join(res.messages, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %s", strings.Join(res.messages, "\n"))
	}
	if res := r.modern().request("1", "tools/call", `{"name":"x","_meta":{"io.modelcontextprotocol/logLevel":"loud"}}`).rest(); !strings.Contains(res.messages[0], `"code":-32602`) { // W23.8
		t.Error(res.messages)
	}
}
