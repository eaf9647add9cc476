package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The tests are named after the cases they prove (docs/cases).

func TestC01IdsComeBackByteForByte(t *testing.T) { // C01, W1.5, B3.6
	r := serve(t, plain(nil))
	for name, c := range map[string]*client{"legacy": r.legacy(), "modern": r.modern()} {
		for _, id := range []string{`"1"`, `"007"`, `""`, `"9007199254740993"`, `0`, `-5`, `9007199254740993`, `"\u0041"`} {
			res := c.request(id, "tools/list", "").rest()
			if len(res.messages) != 1 || !strings.HasPrefix(res.messages[0], `{"jsonrpc":"2.0","id":`+id+`,"result":{"tools":[`) {
				t.Errorf("%s, id %s: %d %v", name, id, res.status, res.messages)
			}
		}
	}
}

func TestC02AWorkloadThatEchoesIdsAsStrings(t *testing.T) { // C02, R6
	r := serve(t, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}`}}))
	r.legacy().want("tools/call", `{"name":"add","arguments":{}}`, `{"content":[]}`)
}

func TestC03NullParams(t *testing.T) { // C03, R7, W6.6
	r := serve(t, plain(script{"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"saw":$LINE}}`}}))
	if got := saw([]byte(r.legacy().call("tools/list", "null"))); got != `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` {
		t.Errorf("the workload saw %s", got)
	}
	m := r.modern()
	res := m.send(http.MethodPost, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":null}`, func(h http.Header) {
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", "tools/list")
	}).rest()
	if res.status != 400 || len(res.messages) != 1 || !strings.HasPrefix(res.messages[0], `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,`) {
		t.Errorf("%d %v", res.status, res.messages)
	}
}

func TestC04Numbers(t *testing.T) { // C04, D2, B0.2
	const body = `"content":[{"type":"text","text":"{\"id\":9007199254740993}"}],"structuredContent":{"id":9007199254740993,"p":1.0,"e":1E2},"x":{"b":1,"a":[ 1 ,2]}`
	r := serve(t, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":$ID,"result":{` + body + `}}`}}))
	const args = `{"name":"n","arguments":{"z":12345678901234567890,"a":1.0,"f":1e400}}`
	r.legacy().want("tools/call", args, `{`+body+`}`)
	r.modern().want("tools/call", args, `{`+body+`,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1"}}}`)

	r = serve(t, plain(nil))
	if got := saw([]byte(r.legacy().call("vendor/x", args))); got != `{"jsonrpc":"2.0","id":2,"method":"vendor/x","params":`+args+`}` {
		t.Errorf("legacy: the workload saw %s", got)
	}
	if got := saw([]byte(r.modern().call("vendor/x", args))); got != `{"jsonrpc":"2.0","id":2,"method":"vendor/x","params":`+args+`}` {
		t.Errorf("modern: the workload saw %s", got)
	}
}

func TestC07Banners(t *testing.T) { // C07, W18.2, R5
	s := plain(nil)
	s["initialize"] = append([]string{"🚀 demo server v1 ready", "", "\x1b[32mlistening\x1b[0m"}, s["initialize"]...)
	r := serve(t, s)
	r.legacy().want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if len(r.events.noise) != 2 || r.events.noise[1] != `\x1b[32mlistening\x1b[0m` {
		t.Errorf("%q", r.events.noise)
	}
}

func TestC08LongLines(t *testing.T) { // C08, D7, D14
	long := strings.Repeat("a", 130_000)
	s := plain(nil)
	s["initialize"] = []string{strings.Replace(s["initialize"][0], "be kind", long, 1)}
	r := serve(t, s)
	c, first := r.initialize("2025-06-18", "{}")
	if !strings.Contains(first, long) {
		t.Error("instructions were cut")
	}
	if got := saw([]byte(c.call("vendor/x", `{"x":"`+long+`"}`))); !strings.Contains(got, long) {
		t.Error("the request was cut")
	}
	tooLong := strings.Repeat("a", 1<<20)
	r = serve(t, plain(script{"vendor/x": {`{"jsonrpc":"2.0","id":$ID,"result":{"x":"` + tooLong + `"}}`}}))
	c = r.legacy()
	c.want("vendor/x", "", `{"code":-32603,"message":"the workload's answer is too large","data":{"reason":"response_too_large"}}`)
	c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`) // the process lives on
}

func TestC09LineEnds(t *testing.T) { // C09, W18.1
	r := serve(t, plain(script{"tools/list": {`!raw "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"tools\":[]}}\r\n\r\n"`}}))
	c := r.legacy()
	c.want("tools/list", "", `{"tools":[]}`)
	c.want("tools/list", "", `{"tools":[]}`)
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if len(r.events.noise) != 0 {
		t.Errorf("%q", r.events.noise)
	}
}

func TestC10AnswersThatAreNotUTF8(t *testing.T) { // R5, B16
	r := serve(t, plain(script{
		"tools/call:bad": {`!raw "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xc7\xd1\xb1\xdb\"}]}}\n"`},
		"tools/call:ok":  {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}))
	for _, c := range []*client{r.legacy(), r.modern()} {
		c.want("tools/call", `{"name":"bad"}`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`)
		if got := c.call("tools/call", `{"name":"ok"}`); !strings.HasPrefix(got, `{"content":[]`) {
			t.Error(got)
		}
	}
	if r.child.starts != 2 {
		t.Errorf("%d processes", r.child.starts)
	}
}

func TestC23AnEmptyCursorThatLeadsToItself(t *testing.T) { // C23, R2
	const tool = `{"name":"a","inputSchema":{"type":"object"}}`
	r := serve(t, plain(script{"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[` + tool + `],"nextCursor":""}}`}}))
	r.legacy().want("tools/list", "", `{"tools":[`+tool+`]}`)
	if got := r.modern().call("tools/list", ""); strings.Contains(got, "nextCursor") {
		t.Error(got)
	}
	// An empty cursor that leads on is one like any other (W22.1).
	r = serve(t, plain(script{
		"tools/list":  {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[` + tool + `],"nextCursor":""}}`},
		"tools/list@": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"nextCursor":"x"}}`},
	}))
	c := r.legacy()
	c.want("tools/list", "", `{"tools":[`+tool+`],"nextCursor":""}`)
	c.want("tools/list", `{"cursor":""}`, `{"tools":[],"nextCursor":"x"}`)
}

func TestC24ProgressTokenZero(t *testing.T) { // C24, W20.1, W20.3, B11.4
	note := func(token, progress string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + progress + `}}`
	}
	r := serve(t, plain(script{
		"tools/call": {note("$TOKEN", "0"), note("$TOKEN", "1"), note("$TOKEN", "1"), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`, note("$TOKEN", "2")},
		// A server that forbids params on lists.
		"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"saw":$LINE}}`},
	}))
	for name, c := range map[string]*client{"legacy": r.legacy(), "modern": r.modern()} {
		for _, token := range []string{`0`, `"0"`, `"t"`} {
			s := c.request("0", "tools/call", `{"name":"slow","arguments":{},"_meta":{"progressToken":`+token+`}}`)
			s.want(note(token, "0"))
			s.want(note(token, "1"))
			if got, _ := s.next(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":0,"result":{"content":[]`) {
				t.Errorf("%s: %s", name, got)
			}
			if got, ok := s.next(); ok {
				t.Errorf("%s: after the answer: %s", name, got)
			}
			s.close()
		}
		if got := saw([]byte(c.call("tools/list", `{"_meta":{"progressToken":0}}`))); strings.Contains(got, "params") {
			t.Errorf("%s: the workload saw %s", name, got)
		}
	}
}

func TestC25Nulls(t *testing.T) { // C25, R4
	r := serve(t, plain(script{"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"a","title":null,"icons":null,"annotations":null,"outputSchema":null,"execution":null,"inputSchema":{"type":"object","x":null}}],"nextCursor":null,"_meta":null}}`}}))
	r.legacy().want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object","x":null}}]}`)
	r.modern().want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object","x":null}}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1"}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
}

func TestC26OneBadSchemaAmongGoodOnes(t *testing.T) { // C26, R4, W24.6, W24.17
	const good = `{"name":"good","inputSchema":{"type":"object","$defs":{"Q":{"type":"object","properties":{"n":{"type":["integer","null"]}}}},"properties":{"q":{"$ref":"#/$defs/Q"}}}}`
	r := serve(t, plain(script{"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[ ` + good + `, {"name":"bad","inputSchema":{}}, {"inputSchema":{}} ]}}`}}))
	r.legacy().want("tools/list", "", `{"tools":[ `+good+`, {"name":"bad","inputSchema":{"type":"object"}} ]}`)
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if len(r.events.fixed) != 2 || r.events.fixed[0].Item != "bad" || strings.Join(r.events.names, " ") != "good bad" {
		t.Errorf("%v, tools %v", r.events.fixed, r.events.names)
	}
}

func TestC27StructuredContentWithoutContent(t *testing.T) { // C27, R8
	r := serve(t, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":$ID,"result":{"isError":false,"structuredContent":{"total":2}}}`}}))
	const want = `{"isError":false,"structuredContent":{"total":2},"content":[{"type":"text","text":"{\"total\":2}"}]`
	r.legacy().want("tools/call", `{"name":"x"}`, want+`}`)
	if got := r.modern().call("tools/call", `{"name":"x"}`); !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

func TestC28NoInitializedFromTheClient(t *testing.T) { // C28, R9, W4.6
	r := serve(t, plain(script{
		"initialize":                {plain(nil)["initialize"][0], "!await notifications/initialized"},
		"notifications/initialized": {"!exit 9"}, // a second one would end it
	}))
	c := r.legacy()
	c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); res.status != 202 {
		t.Errorf("a late one: %d", res.status)
	}
	c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
}

func TestC29ACancelThatKillsTheChild(t *testing.T) { // C29, W19.2, W19.5, B3.8, B11.6
	r := serve(t, plain(script{
		"tools/call":              {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"$ID"}}`},
		"tools/call:y":            {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}`},
		"notifications/cancelled": {"!exit 1"},
	}))
	c, other := r.legacy(), r.legacy()
	first := c.request("7", "tools/call", `{"name":"x"}`)
	first.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"2"}}`)
	second := c.request("8", "tools/call", `{"name":"y","_meta":{"progressToken":"t"}}`)
	second.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`); res.status != 202 {
		t.Errorf("cancel: %d", res.status)
	}
	if got, ok := first.next(); ok {
		t.Errorf("after the cancel: %s", got)
	}
	first.close()
	res := second.rest()
	if len(res.messages) == 0 || res.messages[len(res.messages)-1] != `{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"the workload ended before it answered","data":{"reason":"workload_restarted"}}}` {
		t.Errorf("the other call: %v", res.messages)
	}
	other.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
	if res := c.send(http.MethodPost, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`, nil).rest(); res.status != 404 { // B3.8: only that session
		t.Errorf("the session lives: %d %v", res.status, res.messages)
	}
	r.legacy().want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
}

func TestC30Batches(t *testing.T) { // C30, W12.1, B11.10
	r := serve(t, plain(script{"broken": {"!exit 3"}}))
	c, _ := r.initialize("2025-03-26", "{}")
	res := c.post(`[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	if res.status != 200 || len(res.messages) != 2 {
		t.Errorf("%d %v", res.status, res.messages)
	}
	if res := c.post(`[{"jsonrpc":"2.0","method":"notifications/x"}]`); res.status != 202 {
		t.Errorf("%d", res.status)
	}
	c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
}

func TestC31URIs(t *testing.T) { // C31, B14.8
	r := serve(t, plain(script{"resources/read": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32002,"message":"none","data":$LINE}}`}}))
	const uri = `"uri":"file:///d/hello%20world+%2Fx.txt"`
	if got := r.legacy().call("resources/read", `{`+uri+`}`); !strings.Contains(got, `"code":-32002`) || !strings.Contains(got, `"params":{`+uri+`}`) {
		t.Error(got)
	}
	// B16: the code is retired, the URI is added.
	if got := r.modern().call("resources/read", `{`+uri+`}`); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, `"params":{`+uri+`}`) || !strings.HasSuffix(got, `,`+uri+`}}`) {
		t.Error(got)
	}
	// A modern workload over HTTP gets them in the header too (W15.1).
	const text = "file:///d/hello%20world+%2Fx.txt"
	p := &page{}
	modern := inFront(t, p)
	for i, c := range []*client{modern.legacy(), modern.modern()} {
		c.call("resources/read", `{`+uri+`}`)
		p.mu.Lock()
		read := slices.DeleteFunc(slices.Clone(p.heads), func(h http.Header) bool { return h.Get("Mcp-Method") != "resources/read" })
		p.mu.Unlock()
		if len(read) != i+1 || read[i].Get("Mcp-Name") != text {
			t.Errorf("the workload saw %v", read)
		}
	}
	// A change is told under the same bytes, and another spelling is another resource.
	updated := func(uri string) string {
		return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
	}
	w := subscribed()
	w["tools/call"] = []string{updated("file:///d/hello world+/x.txt"), updated(text), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`}
	c := serve(t, w).declaring("{}")
	listen := c.request(`"s"`, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["`+text+`"]}}`)
	defer listen.close()
	listen.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["` + text + `"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`)
	c.call("tools/call", `{"name":"x"}`)
	listen.want(strings.Replace(updated(text), `"}}`, `","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`, 1))
}

func TestC32Names(t *testing.T) { // C32, B14.8
	r := serve(t, plain(nil))
	for _, c := range []*client{r.legacy(), r.modern()} {
		for _, name := range []string{"calendar.read", "github/git_commit"} {
			if got := saw([]byte(c.call("tools/call", `{"name":"`+name+`"}`))); !strings.Contains(got, `"params":{"name":"`+name+`"}`) {
				t.Errorf("the workload saw %s", got)
			}
		}
	}
}
