package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// since is a workload that answers initialize with a revision of its own.
func since(revision string, more script) script {
	s := plain(more)
	s["initialize"] = []string{strings.Replace(s["initialize"][0], "2025-06-18", revision, 1)}
	return s
}

func TestAWorkloadThatIsNewerThanItsClient(t *testing.T) { // B0.3, B4.11, B14.1, B14.2, R8
	r := serve(t, since("2025-11-25", script{
		"tools/call":  {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"audio","data":"AAAA","mimeType":"a/b"},{"type":"resource_link","uri":"x:y","name":"n"},{"type":"new"}],"structuredContent":{"n":1.0}}}`},
		"tools/list":  {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}`},
		"prompts/get": {`{"jsonrpc":"2.0","id":$ID,"result":{"messages":[{"role":"user","content":{"type":"audio","data":"AAAA","mimeType":"a/b"}}]}}`},
	}))
	const (
		audio  = `{"type":"audio","data":"AAAA","mimeType":"a/b"}`
		words  = `{"type":"text","text":"[audio, a/b, 3 bytes]"}`
		link   = `{"type":"resource_link","uri":"x:y","name":"n"}`
		linked = `{"type":"text","text":"n: x:y"}`
		text   = `,{"type":"text","text":"{\"n\":1.0}"}`
		novel  = `{"type":"text","text":"[content of type new]"}`
	)
	for revision, want := range map[string][3]string{
		"2024-11-05": {`{"content":[` + words + `,` + linked + `,` + novel + text + `]}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, words},
		"2025-03-26": {`{"content":[` + audio + `,` + linked + `,` + novel + text + `]}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, audio},
		"2025-06-18": {`{"content":[` + audio + `,` + link + `,` + novel + `],"structuredContent":{"n":1.0}}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`, audio},
		"2025-11-25": {`{"content":[` + audio + `,` + link + `,{"type":"new"}],"structuredContent":{"n":1.0}}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`, audio},
	} {
		c, hello := r.initialize(revision, "{}")
		if !strings.Contains(hello, `"protocolVersion":"`+revision+`"`) {
			t.Errorf("%s: %s", revision, hello)
		}
		c.want("tools/call", `{"name":"x"}`, want[0])
		c.want("tools/list", "", want[1])
		c.want("prompts/get", `{"name":"x"}`, `{"messages":[{"role":"user","content":`+want[2]+`}]}`)
	}
}

func TestANewerWorkloadAsksAnOlderClient(t *testing.T) { // B4.11, B14.4, B14.6, B17
	const caps = `{"sampling":{},"elicitation":{}}`
	for name, tc := range map[string]struct{ client, ask, sees, answer, gets string }{
		"a form with a mode and titled choices": {"2025-06-18",
			`"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"1","title":"one"}]}}}}`,
			`elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["1"],"enumNames":["one"]}}}}`,
			`"result":{"action":"decline"}`, `"result":{"action":"decline"}`},
		"several choices": {"2025-06-18",
			`"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"array"}}}}`,
			``, ``, `"result":{"action":"cancel"}`},
		"an address": {"2025-06-18",
			`"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x","elicitationId":"1"}`,
			``, ``, `"error":{"code":-32602,"message":"the client's revision cannot be asked this","data":{"reason":"not_in_revision"}}`},
		"a message of two blocks": {"2025-03-26",
			`"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"maxTokens":1.0}`,
			`sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"b"}}],"maxTokens":1.0}`,
			`"error":{"code":-1,"message":"no"}`, `"error":{"code":-1,"message":"no"}`},
		"a message with tools": {"2025-06-18",
			`"method":"sampling/createMessage","params":{"messages":[],"tools":[],"maxTokens":1}`,
			``, ``, `"error":{"code":-32602,"message":"the client's revision cannot be asked this","data":{"reason":"not_in_revision"}}`},
		"the same revision": {"2025-11-25",
			`"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"array"}}}}`,
			`elicitation/create {"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"array"}}}}`,
			`"result":{"action":"cancel"}`, `"result":{"action":"cancel"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, since("2025-11-25", script{
				"tools/call": {`{"jsonrpc":"2.0","id":"r",` + tc.ask + `}`},
				"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
			}))
			c, _ := r.initialize(tc.client, caps)
			s := c.request("7", "tools/call", `{"name":"x"}`)
			defer s.close()
			if tc.sees != "" {
				if got := c.answered(s, tc.answer); got != tc.sees {
					t.Errorf("the client saw %s", got)
				}
			}
			if got, _ := s.next(); !strings.Contains(got, `"saw":{"jsonrpc":"2.0","id":"r",`+tc.gets+`}`) {
				t.Errorf("the workload saw %s", got)
			}
		})
	}
}

func TestProgressOfAReverseCallReachesTheWorkload(t *testing.T) { // B9.2, B11.4
	for revision, want := range map[string]string{
		"2024-11-05": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0}}`,
		"2025-03-26": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0,"message":"m"}}`,
	} {
		r := serve(t, since(revision, script{
			"tools/call":             {`{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":"p"}}}`},
			"notifications/progress": {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
			"response":               {},
		}))
		c, _ := r.initialize("2025-06-18", capable)
		s := c.request("7", "tools/call", `{"name":"x"}`)
		if got, _ := s.next(); !strings.Contains(got, `"_meta":{"progressToken":"p"}`) {
			t.Errorf("%s: the client saw %s", revision, got)
		}
		c.post(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0,"message":"m"}}`)
		got, _ := s.next()
		for strings.Contains(got, "notifications/cancelled") { // the call has ended with its question open
			got, _ = s.next()
		}
		if raw, _ := strictjson.Get([]byte(got), "result"); saw(raw) != want {
			t.Errorf("%s: %s", revision, got)
		}
		s.close()
	}
}

func TestAnOlderWorkloadThanItsClient(t *testing.T) { // B11.9, B14.6
	r := serve(t, since("2025-03-26", script{
		"tools/call": {`{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`},
		"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
	}))
	for content, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: `"result":{"role":"assistant","model":"m","content":{"type":"text","text":"a\nb"}}`,
		`[{"type":"tool_use"}]`:                                   `"error":{"code":-32603,"message":"the client's answer cannot be said in this revision","data":{"reason":"not_in_revision"}}`,
	} {
		c, _ := r.initialize("2025-11-25", `{"sampling":{"tools":{}}}`)
		s := c.request("7", "tools/call", `{"name":"x"}`)
		c.answered(s, `"result":{"role":"assistant","model":"m","content":`+content+`}`)
		if got, _ := s.next(); !strings.Contains(got, `"saw":{"jsonrpc":"2.0","id":"r",`+want+`}`) {
			t.Errorf("the workload saw %s", got)
		}
		s.close()
	}
	c, _ := r.initialize("2025-11-25", `{}`)
	if got := saw([]byte(c.call("completion/complete", `{"ref":{},"context":{"arguments":{}}}`))); !strings.HasSuffix(got, `"params":{"ref":{}}}`) {
		t.Errorf("the workload saw %s", got)
	}
}
