package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	upstdio "github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

func TestInitializeIsTheClientsOwn(t *testing.T) { // B4.11, B4.12
	r := serve(t, plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"tasks":{}},"x":1.0,"_meta":{"dev.fairlead/a":1,"b":2},"saw":$LINE}}`}}))
	for offered, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2099-01-01": "2025-11-25"} {
		_, got := r.initialize(offered, `{"roots":{"listChanged":true},"tasks":{"list":{}},"vendor":{"n":1.0}}`)
		// The workload is offered the session's revision and no tasks; the client
		// is told its own (W4.3), no tasks, and a serverInfo (W4.5).
		sent := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + want + `","capabilities":{"roots":{"listChanged":true},"vendor":{"n":1.0}},"clientInfo":{"name":"t","version":"0"}}}`
		if want := `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"` + want + `","capabilities":{"tools":{"listChanged":true}},"x":1.0,"_meta":{"b":2},"saw":` + sent + `,"serverInfo":{"name":"fallback","version":"9"}}}`; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", offered, got, want)
		}
	}
}

func TestTheWorkloadRefusesInitialize(t *testing.T) {
	r := serve(t, plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"bad version","data":{"supported":["1"]}}}`}}))
	c := &client{r: r}
	res := c.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	if res.status != 200 || len(res.messages) != 1 || res.messages[0] != `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad version","data":{"supported":["1"]}}}` || res.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%d %v %v", res.status, res.messages, res.header)
	}
	r.modern().want("tools/list", "", `{"code":-32603,"message":"the workload could not be used","data":{"reason":"workload_failed"}}`)
}

func TestAWorkloadThatDoesNotStart(t *testing.T) {
	r := serve(t, script{"initialize": {"!exit 3"}})
	c := &client{r: r}
	res := c.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	const want = `{"code":-32603,"message":"the workload could not be started","data":{"reason":"workload_failed"}}`
	if len(res.messages) != 1 || res.messages[0] != `{"jsonrpc":"2.0","id":1,"error":`+want+`}` {
		t.Errorf("%d %v", res.status, res.messages)
	}
	r.modern().want("tools/list", "", want)
}

func TestDiscover(t *testing.T) { // B4.1, B4.4, W5.4, W5.5
	s := plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true,"x":1.0},"tasks":{"list":{}},"logging":{},"prompts":null,"resources":{"subscribe":true,"listChanged":true},"experimental":{"e":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{}}},"serverInfo":{"name":"child","version":"1","title":"C"},"instructions":"be \"kind\""}}`}})
	r := serve(t, s)
	const want = `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
		`"capabilities":{"tools":{"listChanged":true,"x":1.0},"logging":{},"resources":{"subscribe":true,"listChanged":true},"experimental":{"e":{}},"extensions":{"io.modelcontextprotocol/ui":{}}},` +
		`"instructions":"be \"kind\"","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1","title":"C"}}}`
	for range 2 {
		r.modern().want("server/discover", "", want)
	}
	if r.child.starts != 1 {
		t.Errorf("%d processes for two discovers", r.child.starts)
	}
}

func TestTheEnvelopeStaysOnTheClientsLeg(t *testing.T) { // B5.1, B5.3, P14, R7
	r := serve(t, plain(nil))
	m := r.modern()
	for name, tc := range map[string]struct{ params, want string }{
		"nothing else in it":        {`{"name":"x"}`, `{"name":"x"}`},
		"what else is in it passes": {`{"name":"x","_meta":{"traceparent":"00-a","com.x/y":{"n":1.0},"dev.fairlead/id":"forged","io.modelcontextprotocol/related-task":{"taskId":"t"},"io.modelcontextprotocol/new":1}}`, `{"name":"x","_meta":{"traceparent":"00-a","com.x/y":{"n":1.0},"io.modelcontextprotocol/new":1}}`},
		"no input, no task":         {`{"inputResponses":{"a":{"action":"accept"}},"name":"x","task":{"ttl":1},"arguments":{"task":1,"requestState":2}}`, `{"name":"x","arguments":{"task":1,"requestState":2}}`},
		"null arguments":            {`{"name":"x","arguments":null}`, `{"name":"x","arguments":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := saw([]byte(m.call("tools/call", tc.params)))
			_, params, _ := strings.Cut(got, `"params":`)
			if params != tc.want+"}" {
				t.Errorf("the workload saw %s, want params %s", got, tc.want)
			}
		})
	}
	if got := saw([]byte(m.call("prompts/get", `{"name":"p","arguments":null}`))); !strings.HasSuffix(got, `"params":{"name":"p"}}`) {
		t.Errorf("a prompt without arguments: the workload saw %s", got)
	}
	if got := saw([]byte(m.call("prompts/list", ""))); !strings.HasSuffix(got, `"method":"prompts/list"}`) {
		t.Errorf("a list without a cursor: the workload saw %s", got)
	}
	if got := saw([]byte(m.call("prompts/list", `{"cursor":""}`))); !strings.HasSuffix(got, `"params":{"cursor":""}}`) {
		t.Errorf("a list with a cursor: the workload saw %s", got)
	}
}

func TestResultsForModernClients(t *testing.T) { // B5.4, B5.5, B11.13, W3.1, W3.4, W34.1
	const info = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1"}}`
	r := serve(t, plain(script{
		"resources/read":           {`{"jsonrpc":"2.0","id":$ID,"result":{"contents":[{"uri":"a:b","text":"t","mimeType":null}],"_meta":{"dev.fairlead/x":1,"io.modelcontextprotocol/related-task":{"taskId":"1"},"keep":1}}}`},
		"prompts/get":              {`{"jsonrpc":"2.0","id":$ID,"result":{"description":null,"messages":[]}}`},
		"prompts/list":             {`{"jsonrpc":"2.0","id":$ID,"result":{"prompts":[{"name":"p","arguments":null}]}}`},
		"resources/list":           {`{"jsonrpc":"2.0","id":$ID,"result":{"resources":null}}`},
		"resources/templates/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"resourceTemplates":[{"name":"n","uriTemplate":"u","title":null}],"ttlMs":5}}`},
		"tools/list":               {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"},"annotations":{"title":null,"readOnlyHint":true},"x":null}]}}`},
		"tools/call:n":             {`{"jsonrpc":"2.0","id":$ID,"result":"text"}`},
	}))
	m := r.modern()
	m.want("resources/read", `{"uri":"a:b"}`, `{"contents":[{"uri":"a:b","text":"t"}],"_meta":{"keep":1,"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1"}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
	m.want("prompts/get", `{"name":"p"}`, `{"messages":[],"resultType":"complete",`+info+`}`)
	m.want("prompts/list", "", `{"prompts":[{"name":"p"}],"resultType":"complete",`+info+`,"ttlMs":0,"cacheScope":"private"}`)
	m.want("resources/list", "", `{"resources":[],"resultType":"complete",`+info+`,"ttlMs":0,"cacheScope":"private"}`)
	m.want("resources/templates/list", "", `{"resourceTemplates":[{"name":"n","uriTemplate":"u"}],"ttlMs":0,"resultType":"complete",`+info+`,"cacheScope":"private"}`)
	m.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"x":null}],"resultType":"complete",`+info+`,"ttlMs":0,"cacheScope":"private"}`) // B12.7
	m.want("tools/call", `{"name":"n"}`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`)
}

func TestMethodsBehindACapability(t *testing.T) { // B4.3, W5.6, W14.12
	r := serve(t, plain(script{
		"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"c","version":"1"}}}`},
		"tools/call": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"unknown tool"}}`},
		"vendor/no":  {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"what?"}}`},
	}))
	m := r.modern()
	for _, method := range []string{"prompts/list", "prompts/get", "resources/list", "resources/read", "completion/complete", "subscriptions/listen", "tasks/get", "logging/setLevel", "resources/subscribe", "ping", "initialize", "vendor/no"} {
		res := m.request("1", method, `{"name":"x","uri":"a:b","taskId":"t"}`).rest()
		if method != "tasks/get" && (res.status != 404 || len(res.messages) != 1 || !strings.Contains(res.messages[0], `"id":1,"error":{"code":-32601`)) {
			t.Errorf("%s: %d %v", method, res.status, res.messages)
		}
	}
	r.events.mu.Lock()
	asked := strings.Join(r.events.calls, ",")
	r.events.mu.Unlock()
	if asked != "vendor/no -32601" {
		t.Errorf("the workload was asked %s", asked)
	}
	// A session asks on its own account (B11.9).
	if got := saw([]byte(r.legacy().call("completion/complete", `{"ref":{}}`))); !strings.Contains(got, `"method":"completion/complete"`) {
		t.Error(got)
	}
	if got := r.legacy().call("tasks/list", ""); !strings.Contains(got, "-32601") {
		t.Error(got)
	}
}

func TestErrorsAcrossEras(t *testing.T) { // B19.1, B19.2, B16
	r := serve(t, plain(script{}))
	type row struct{ code, data, method, legacy, modern string }
	rows := []row{
		{"-32002", `{"uri":"a:b"}`, "resources/read", `{"code":-32002,"message":"m","data":{"uri":"a:b"},"x":1}`, `{"code":-32602,"message":"m","data":{"uri":"a:b"}}`},
		{"-32002", ``, "resources/read", `{"code":-32002,"message":"m","x":1}`, `{"code":-32602,"message":"m","data":{"uri":"q:r"}}`},
		{"-32002", `[1]`, "resources/read", `{"code":-32002,"message":"m","data":[1],"x":1}`, `{"code":-32602,"message":"m","data":{"uri":"q:r"}}`},
		{"-32002", `{"y":1}`, "tools/call", `{"code":-32002,"message":"m","data":{"y":1},"x":1}`, `{"code":-32603,"message":"m","data":{"originalCode":-32002,"originalData":{"y":1}}}`},
		{"-32042", `{"elicitations":[{"url":"https://a"}]}`, "tools/call", `{"code":-32603,"message":"m https://a","data":{"originalCode":-32042,"originalData":{"elicitations":[{"url":"https://a"}]}}}`, `{"code":-32021,"message":"the workload needs what the client did not declare","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`},
		{"-32000", `1.0`, "tools/call", `{"code":-32000,"message":"m","data":1.0,"x":1}`, `{"code":-32000,"message":"m","data":1.0,"x":1}`},
		{"-32050", ``, "tools/call", `{"code":-32050,"message":"m","x":1}`, `{"code":-32603,"message":"m","data":{"originalCode":-32050}}`}, // W2.4
		{"-32602", `{"z":[]}`, "tools/call", `{"code":-32602,"message":"m","data":{"z":[]},"x":1}`, `{"code":-32602,"message":"m","data":{"z":[]},"x":1}`},
		{"7", ``, "prompts/get", `{"code":7,"message":"m","x":1}`, `{"code":7,"message":"m","x":1}`},
	}
	for _, tc := range rows {
		t.Run(tc.code+" on "+tc.method+" "+tc.data, func(t *testing.T) {
			member := ""
			if tc.data != "" {
				member = `,"data":` + tc.data
			}
			r = serve(t, plain(script{tc.method: {`{"jsonrpc":"2.0","id":$ID,"error":{"code":` + tc.code + `,"message":"m"` + member + `,"x":1}}`}}))
			r.legacy().want(tc.method, `{"name":"n","uri":"q:r"}`, tc.legacy)
			r.modern().want(tc.method, `{"name":"n","uri":"q:r"}`, tc.modern)
		})
	}
	// 2025-11-25 knows -32042.
	r = serve(t, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32042,"message":"m"}}`}}))
	c, _ := r.initialize("2025-11-25", "{}")
	c.want("tools/call", `{"name":"n"}`, `{"code":-32042,"message":"m"}`)
}

func TestFailuresOfToolsStayResults(t *testing.T) { // B16.2
	const failure = `"content":[{"type":"text","text":"no such file"}],"isError":true`
	r := serve(t, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":$ID,"result":{` + failure + `}}`}}))
	r.legacy().want("tools/call", `{"name":"x"}`, `{`+failure+`}`)
	if got := r.modern().call("tools/call", `{"name":"x"}`); !strings.HasPrefix(got, `{`+failure+`,"resultType":"complete"`) {
		t.Error(got)
	}
}

func TestASharedLegDeclaresWhatItsClientsDo(t *testing.T) { // B3.2, B6.5, P7
	r := serve(t, plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"saw":$LINE}},"serverInfo":{"name":"c","version":"1"}}}`}}))
	got := r.modern().call("server/discover", "")
	if !strings.Contains(got, `"params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"fairlead","version":"1"}}`) { // B1.3, W4.2
		t.Error(got)
	}
}

func TestTheLevelOfASessionIsTheWorkloads(t *testing.T) { // B11.3
	r := serve(t, plain(nil))
	if got := saw([]byte(r.legacy().call("logging/setLevel", `{"level":"debug"}`))); got != `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}` {
		t.Errorf("the workload saw %s", got)
	}
}

func TestLogsOfAModernRequest(t *testing.T) { // B11.1, W23.5, W23.6
	log := func(level string) string {
		return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":"$NTH"}}`
	}
	r := serve(t, plain(script{
		"logging/setLevel": {`{"jsonrpc":"2.0","id":$ID,"result":{}}`},
		"tools/call":       {log("debug"), log("info"), log("error"), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}))
	m := r.modern()
	for i, tc := range []struct {
		level string
		want  int
	}{{"", 0}, {"warning", 1}, {"debug", 3}, {"info", 2}, {"", 0}} {
		params := `{"name":"x"}`
		if tc.level != "" {
			params = `{"name":"x","_meta":{"io.modelcontextprotocol/logLevel":"` + tc.level + `"}}`
		}
		res := m.request("1", "tools/call", params).rest()
		if len(res.messages) != tc.want+1 {
			t.Errorf("%d %q: %v", i, tc.level, res.messages)
		}
	}
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	// The level only ever rises: warning, then debug; info is covered.
	if n := strings.Count(strings.Join(r.events.calls, ","), "tools/call"); n != 5 {
		t.Errorf("%v", r.events.calls)
	}
}

func TestProgressForTheOldestRevisionHasNoMessage(t *testing.T) { // B11.4
	r := serve(t, plain(script{"tools/call": {
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`}}))
	for revision, member := range map[string]string{"2024-11-05": "", "2025-03-26": `,"message":"m"`} {
		c, _ := r.initialize(revision, "{}")
		s := c.request("1", "tools/call", `{"name":"x","_meta":{"progressToken":"t"}}`)
		s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1` + member + `}}`)
		s.close()
	}
}

func TestStructuredContentForOldRevisions(t *testing.T) { // R8, B14.2
	r := serve(t, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"image"} ],"structuredContent":{"n":1.0}}}`}}))
	const image = `{"content":[{"type":"image"} `
	for revision, want := range map[string]string{
		"2024-11-05": image + `,{"type":"text","text":"{\"n\":1.0}"}]}`,
		"2025-03-26": image + `,{"type":"text","text":"{\"n\":1.0}"}]}`,
		"2025-06-18": image + `],"structuredContent":{"n":1.0}}`,
	} {
		c, _ := r.initialize(revision, "{}")
		c.want("tools/call", `{"name":"x"}`, want)
	}
}

func TestADisconnectCancelsAModernRequestOnly(t *testing.T) { // W14.10, W8.10, B11
	r := serve(t, plain(script{
		"tools/call": {
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}`,
			"!await notifications/cancelled",
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
		"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"n":"$NTH"}}`},
	}))
	m := r.modern()
	s := m.request("1", "tools/call", `{"name":"x","_meta":{"progressToken":1}}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
	s.close()
	// The child serves this only after it was told.
	if got := m.call("tools/list", ""); !strings.HasPrefix(got, `{"tools":[],"n":"1"`) {
		t.Error(got)
	}
}

func TestIsolationOnASharedProcess(t *testing.T) { // B19.4
	note := func(progress string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":` + progress + `}}`
	}
	r := serve(t, plain(script{
		"tools/call:a": {note("1"),
			"!await tools/call", // b is in flight too: the log is nobody's
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"whose?"}}`,
			note("2"),
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"who":"a"}}`},
		"tools/call:b": {note("1"), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"who":"b"}}`},
	}))
	ask := func(who string) *stream {
		return r.declaring("{}").request("7", "tools/call", `{"name":"`+who+`","_meta":{"progressToken":"same","io.modelcontextprotocol/logLevel":"debug"}}`)
	}
	a := ask("a")
	got := func(n string) string {
		return strings.Replace(note(n), "$TOKEN", `"same"`, 1)
	}
	a.want(got("1"))
	b := ask("b").rest()
	rest := a.rest()
	if len(rest.messages) != 2 || rest.messages[0] != got("2") || !strings.Contains(rest.messages[1], `"who":"a"`) {
		t.Errorf("a got %v", rest.messages)
	}
	if len(b.messages) != 2 || b.messages[0] != got("1") || !strings.Contains(b.messages[1], `"who":"b"`) {
		t.Errorf("b got %v", b.messages)
	}
}

func TestASessionEndsWithItsProcess(t *testing.T) { // B3.8, P15
	r := serve(t, plain(script{"notifications/bye": {"!exit 0"}}))
	c := r.legacy()
	get := c.send(http.MethodGet, "", nil)
	defer get.close()
	c.post(`{"jsonrpc":"2.0","method":"notifications/bye"}`)
	if m, ok := get.next(); ok {
		t.Errorf("the stream goes on: %s", m)
	}
	if res := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); res.status != 404 {
		t.Errorf("%d %v", res.status, res.messages)
	}
}

func TestDELETEEndsTheProcess(t *testing.T) { // B15.6
	r := serve(t, plain(nil))
	c := r.legacy()
	if res := c.send(http.MethodDelete, "", nil).rest(); res.status != 204 && res.status != 200 {
		t.Errorf("%d", res.status)
	}
	if why := <-r.ends; why != upstdio.EndSession {
		t.Errorf("ended as %s", why)
	}
	if n := r.pool.Processes(); n != 0 {
		t.Errorf("%d processes", n)
	}
}

func TestListsAreAskedAgainAfterACrash(t *testing.T) { // B0.5, B3.8
	r := serve(t, plain(script{"tools/call": {"!exit 1"}, "prompts/list": {"!exit 1"}}))
	m := r.modern()
	const gone = `{"code":-32603,"message":"the workload ended before it answered","data":{"reason":"workload_restarted"}}`
	m.want("tools/call", `{"name":"x"}`, gone)
	m.want("prompts/list", "", gone)
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if got := strings.Join(r.events.calls, ","); got != "tools/call workload_restarted,prompts/list workload_restarted,prompts/list workload_restarted" {
		t.Error(got)
	}
}
