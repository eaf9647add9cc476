package edgetest

import (
	"encoding/base64"
	"strings"
	"testing"
)

// Initialize: what it gets, whatever comes with it. W4.3, W5.13, B2.2, R3, C15,
// C16, W38.1.
func Initialize(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		for requested, want := range map[string]string{
			"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
			"2026-07-28": "2025-11-25", "2027-03-01": "2025-11-25", "nonsense": "2025-11-25",
		} {
			for _, header := range []map[string]string{
				nil, {"MCP-Protocol-Version": "2027-03-01"}, {"MCP-Protocol-Version": "2026-07-28"}, {"MCP-Protocol-Version": "x"}, on("dead-0001"),
			} {
				a := c.ask(call{body: initialize(requested), header: header})
				id := a.header.Get("Mcp-Session-Id")
				if a.status != 200 || !strings.Contains(a.body, `"protocolVersion":"`+want+`"`) || id == "" || id == "dead-0001" {
					t.Errorf("%s with %v: %d %s", requested, header, a.status, a.body)
				}
				c.ask(call{method: "DELETE", header: on(id)}) // there is no room for so many
				for i := range len(id) {                      // W10.1, W10.3
					if id[i] < 0x21 || id[i] > 0x7e {
						t.Errorf("byte %d of the session id", i)
					}
				}
			}
		}
		// With the modern key it is a method that does not exist (W14.13).
		a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` + envelope + `}}`, header: modern("initialize")})
		if a.status != 404 || a.code() != "-32601" || a.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("with an envelope: %d %s", a.status, a.body)
		}
		for name, params := range map[string]string{"no params": "", "no version": `,"params":{"capabilities":{}}`, "params null": `,"params":null`} {
			if a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"initialize"` + params + `}`}); a.status != 200 || !strings.Contains(a.body, "2025-11-25") {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		if a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":[]}}`}); a.status != 200 || a.code() != "-32602" {
			t.Errorf("capabilities that are a list: %d %s", a.status, a.body)
		}
	})
}

// LegacyRequests are those of sessions, and what looks like one. W8.1, W11.2,
// W10.5, W10.6, W4.1, B2.1.
func LegacyRequests(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		id := c.connect("2025-06-18")
		old := c.connect("2024-11-05")
		ask := func(method string) string { return `{"jsonrpc":"2.0","id":"1","method":"` + method + `"}` }
		tests := map[string]struct {
			q      call
			status int
			code   string
		}{
			"a request":                    {call{body: ask(asked), header: on(id)}, 200, ""},
			"a request of 2024-11-05":      {call{body: ask(asked), header: on(old)}, 200, ""},                                                        // P17
			"params null":                  {call{body: `{"jsonrpc":"2.0","id":"1","method":"prompts/list","params":null}`, header: on(id)}, 200, ""}, // C03
			"no session id":                {call{body: ask(asked)}, 400, "-32600"},                                                                   // W10.5
			"an unknown session":           {call{body: ask(asked), header: on("dead-0001")}, 404, "-32600"},                                          // W10.6
			"an unknown method":            {call{body: ask("no/such"), header: on(id)}, 200, "-32601"},                                               // W10.7, B2.3
			"a method of 2026-07-28":       {call{body: ask("server/discover"), header: on(id)}, 200, "-32601"},
			"tasks that are not there":     {call{body: ask("tasks/list"), header: on(id)}, 200, "-32601"},
			"a request only servers send":  {call{body: ask("sampling/createMessage"), header: on(id)}, 200, "-32601"},
			"its own version header":       {call{body: ask(asked), header: with(on(id), "MCP-Protocol-Version", "2025-06-18")}, 200, ""},
			"another known version":        {call{body: ask(asked), header: with(on(id), "MCP-Protocol-Version", "2025-03-26")}, 200, ""},       // W11.5, B15.4
			"an unknown version":           {call{body: ask(asked), header: with(on(id), "MCP-Protocol-Version", "2025-01-01")}, 400, "-32600"}, // W11.3
			"a broken version":             {call{body: ask(asked), header: with(on(id), "MCP-Protocol-Version", "v999")}, 400, "-32600"},
			"a modern version":             {call{body: ask(asked), header: with(on(id), "MCP-Protocol-Version", "2026-07-28")}, 400, "-32602"}, // W16.2
			"ping":                         {call{body: ask("ping"), header: on(id)}, 200, ""},                                                  // W21.1, B11.7
			"ping without a session":       {call{body: ask("ping")}, 400, "-32600"},
			"a version key that is legacy": {call{body: `{"jsonrpc":"2.0","id":"1","method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`, header: with(on(id), "MCP-Protocol-Version", "2025-11-25")}, 400, "-32022"}, // B2.2
			"a batch where there is none":  {call{body: "[" + ask("ping") + "]", header: on(id)}, 400, "-32600"},                                                                                                                                                      // W12.4
			"an empty batch":               {call{body: "[]", header: on(id)}, 400, "-32600"},
		}
		for name, tt := range tests {
			a := c.ask(tt.q)
			if a.status != tt.status || a.code() != tt.code {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			if tt.code != "" && !strings.HasPrefix(tt.q.body, "[") && a.id() != `"1"` { // W14.15
				t.Errorf("%s: id in %s", name, a.body)
			}
		}
	})
}

func sentinel(text string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// ModernRequests are those of 2026-07-28, in the order of P34: the body says
// what a request is, the headers confirm it. W14, W15, W16.3, W14.1, W14.2,
// W14.4, W14.13, W14.17, W15.2, W15.9, W15.23, W5.9, W7.1, B2.1.
func ModernRequests(t *testing.T, target Target) {
	meta := func(members string) string { return `"_meta":{` + members + `}` }
	const version = `"io.modelcontextprotocol/protocolVersion":`
	const caps = `"io.modelcontextprotocol/clientCapabilities":{}`
	body := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`
	}
	good := meta(version + `"2026-07-28",` + caps)
	named := func(name string) string { return `"name":` + name + `,` + good }
	tests := map[string]struct {
		body   string
		header map[string]string
		status int
		code   string
	}{
		"all is well":                     {body(asked, good), modern(asked), 200, ""},
		"a stale session id":              {body(asked, good), modern(asked, "Mcp-Session-Id", "dead-0001", "Last-Event-ID", "x.1"), 200, ""}, // B2.6
		"client info":                     {body(asked, meta(version+`"2026-07-28",`+caps+`,"io.modelcontextprotocol/clientInfo":{"name":"c"}`)), modern(asked), 200, ""},
		"params null":                     {`{"jsonrpc":"2.0","id":7,"method":"prompts/list","params":null}`, modern(asked), 400, "-32602"}, // C03
		"no _meta":                        {`{"jsonrpc":"2.0","id":7,"method":"prompts/list"}`, modern(asked), 400, "-32602"},               // W15.24
		"a _meta that is a list":          {body(asked, `"_meta":[]`), modern(asked), 400, "-32602"},
		"no version key":                  {body(asked, meta(caps)), modern(asked), 400, "-32602"},
		"no version key, future header":   {body(asked, meta(caps)), modern(asked, "MCP-Protocol-Version", "2027-03-01"), 400, "-32602"},
		"a version that is a number":      {body(asked, meta(version+`1,`+caps)), modern(asked), 400, "-32602"},
		"no version header":               {body(asked, good), modern(asked, "MCP-Protocol-Version", "-"), 400, "-32020"},
		"another version header":          {body(asked, good), modern(asked, "MCP-Protocol-Version", "2025-11-25"), 400, "-32020"},
		"header fits, body is v999":       {body(asked, meta(version+`"v999",`+caps)), modern(asked), 400, "-32020"}, // W15.24
		"both are v999":                   {body(asked, meta(version+`"v999",`+caps)), modern(asked, "MCP-Protocol-Version", "v999"), 400, "-32022"},
		"newer, with another envelope":    {body(asked, meta(version+`"2027-03-01"`)), modern(asked, "MCP-Protocol-Version", "2027-03-01"), 400, "-32022"},       // P34
		"both are legacy":                 {body(asked, meta(version+`"2025-11-25",`+caps)), modern(asked, "MCP-Protocol-Version", "2025-11-25"), 400, "-32022"}, // B2.2
		"no capabilities":                 {body(asked, meta(version+`"2026-07-28"`)), modern(asked), 400, "-32602"},                                             // W6.6
		"capabilities null":               {body(asked, meta(version+`"2026-07-28","io.modelcontextprotocol/clientCapabilities":null`)), modern(asked), 400, "-32602"},
		"client info that is a string":    {body(asked, meta(version+`"2026-07-28",`+caps+`,"io.modelcontextprotocol/clientInfo":"c"`)), modern(asked), 400, "-32602"},
		"no Mcp-Method":                   {body(asked, good), modern(asked, "Mcp-Method", "-"), 400, "-32020"}, // W15.3
		"Mcp-Method in another case":      {body(asked, good), modern("PROMPTS/LIST"), 400, "-32020"},           // W15.5
		"Mcp-Method of another method":    {body(asked, good), modern("tools/call"), 400, "-32020"},
		"Mcp-Method in a sentinel":        {body(asked, good), modern(sentinel(asked)), 400, "-32020"}, // W15 table
		"Mcp-Method with space around":    {body(asked, good), modern("  prompts/list\t"), 200, ""},    // W15.6
		"a tool":                          {body("tools/call", named(`"add"`)), modern("tools/call", "Mcp-Name", "add"), 200, ""},
		"a tool without Mcp-Name":         {body("tools/call", named(`"add"`)), modern("tools/call"), 400, "-32020"},
		"a tool with another Mcp-Name":    {body("tools/call", named(`"add"`)), modern("tools/call", "Mcp-Name", "Add"), 400, "-32020"},
		"an empty Mcp-Name":               {body("tools/call", named(`"add"`)), modern("tools/call", "Mcp-Name", ""), 400, "-32020"},
		"an empty tool name":              {body("tools/call", named(`""`)), modern("tools/call", "Mcp-Name", ""), 200, ""},                             // P33.6: empty is not absent
		"a sentinel":                      {body("tools/call", named(`"grüße, 世界"`)), modern("tools/call", "Mcp-Name", sentinel("grüße, 世界")), 200, ""}, // W15.4
		"a sentinel for a plain name":     {body("tools/call", named(`"add"`)), modern("tools/call", "Mcp-Name", sentinel("add")), 200, ""},
		"a name that looks like one":      {body("tools/call", named(`"=?base64?x?="`)), modern("tools/call", "Mcp-Name", sentinel("=?base64?x?=")), 200, ""}, // W15.20
		"bad padding":                     {body("tools/call", named(`"Hello"`)), modern("tools/call", "Mcp-Name", "=?base64?SGVsbG8?="), 400, "-32020"},      // W15.23
		"a bad alphabet":                  {body("tools/call", named(`"Hello"`)), modern("tools/call", "Mcp-Name", "=?base64?SGV*bG8=?="), 400, "-32020"},
		"a sentinel that is not UTF-8":    {body("tools/call", named(`"Hello"`)), modern("tools/call", "Mcp-Name", "=?base64?/////w==?="), 400, "-32020"},
		"an upper-case prefix is literal": {body("tools/call", named(`"=?BASE64?SGVsbG8=?="`)), modern("tools/call", "Mcp-Name", "=?BASE64?SGVsbG8=?="), 200, ""},
		"a missing suffix is literal":     {body("tools/call", named(`"=?base64?SGVsbG8="`)), modern("tools/call", "Mcp-Name", "=?base64?SGVsbG8="), 200, ""},
		"spaces inside":                   {body("tools/call", named(`"us west 1"`)), modern("tools/call", "Mcp-Name", "us west 1"), 200, ""},
		"NFC is not NFD":                  {body("tools/call", named(`"\u00e9"`)), modern("tools/call", "Mcp-Name", sentinel("e\u0301")), 400, "-32020"}, // P33.11
		"raw bytes beyond ASCII":          {body("tools/call", named(`"é"`)), modern("tools/call", "Mcp-Name", "é"), 400, "-32020"},
		"a tool name that is a number":    {body("tools/call", named(`5`)), modern("tools/call"), 200, ""}, // the server's to refuse
		"Mcp-Name that repeats nothing":   {body("tools/call", good), modern("tools/call", "Mcp-Name", "add"), 400, "-32020"},
		"a resource":                      {body("resources/read", `"uri":"file:///d/hello%20world+%2Fx.txt",`+good), modern("resources/read", "Mcp-Name", "file:///d/hello%20world+%2Fx.txt"), 200, ""}, // C31
		"a resource spelled otherwise":    {body("resources/read", `"uri":"file:///d/hello%20world",`+good), modern("resources/read", "Mcp-Name", "file:///d/hello world"), 400, "-32020"},
		"a prompt":                        {body("prompts/get", named(`"p"`)), modern("prompts/get", "Mcp-Name", "p"), 200, ""},
		"an unknown method":               {body("no/such", good), modern("no/such"), 404, "-32601"}, // W14.12
		"ping":                            {body("ping", good), modern("ping"), 404, "-32601"},       // W21.4
		"logging/setLevel":                {body("logging/setLevel", good), modern("logging/setLevel"), 404, "-32601"},
		"resources/subscribe":             {body("resources/subscribe", good), modern("resources/subscribe"), 404, "-32601"},
		"subscriptions/listen":            {body("subscriptions/listen", good), modern("subscriptions/listen"), 404, "-32601"},
		"a bad log level":                 {body(asked, meta(version+`"2026-07-28",`+caps+`,"io.modelcontextprotocol/logLevel":"loud"`)), modern(asked), 200, "-32602"}, // W23.8
		"a good log level":                {body(asked, meta(version+`"2026-07-28",`+caps+`,"io.modelcontextprotocol/logLevel":"debug"`)), modern(asked), 200, ""},
		"a notification":                  {`{"jsonrpc":"2.0","method":"notifications/x","params":{` + good + `}}`, modern("notifications/x"), 202, ""},       // B2.5
		"a notification by header alone":  {`{"jsonrpc":"2.0","method":"notifications/x"}`, map[string]string{"MCP-Protocol-Version": "2026-07-28"}, 202, ""}, // P34
		"a response":                      {`{"jsonrpc":"2.0","id":7,"result":{}}`, map[string]string{"MCP-Protocol-Version": "2026-07-28"}, 400, "-32600"},   // W1.13
		"a batch":                         {`[` + body(asked, good) + `]`, modern(asked), 400, "-32600"},                                                      // W12.3
	}
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		for name, tt := range tests {
			before := w.served()
			a := c.ask(call{body: tt.body, header: tt.header})
			if a.status != tt.status || a.code() != tt.code {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			if called := w.served() > before; called != (tt.status == 200 && tt.code == "") {
				t.Errorf("%s: reached the server: %v", name, called)
			}
			if tt.code != "" && tt.body[0] == '{' && a.id() != "7" { // W14.15
				t.Errorf("%s: id in %s", name, a.body)
			}
			if a.header.Get("Mcp-Session-Id") != "" { // W10.12
				t.Errorf("%s: a session id", name)
			}
			if tt.code == "-32022" && !strings.Contains(a.body, `"supported":["2026-07-28"]`) { // W5.2
				t.Errorf("%s: %s", name, a.body)
			}
		}
	})
}
