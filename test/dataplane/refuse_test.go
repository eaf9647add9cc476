package dataplane

import (
	"net/http"
	"strings"
	"testing"
)

// What must be refused is refused in the protocol's own form, and the session
// that it came on lives on.
func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-06-18")
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, tc := range map[string]struct {
		body   string
		header map[string]string
		status int
		code   int
	}{
		"an oversized body":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("x", 5<<20) + `"}}}`, nil, 413, 0},
		"broken JSON":                 {`{"jsonrpc":"2.0","id":1,`, nil, 400, -32700},
		"two names alike":             {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, 400, -32600},
		"no JSON-RPC":                 {`{"hello":1}`, nil, 400, -32600},
		"another session":             {list, map[string]string{"Mcp-Session-Id": "a1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 404, 0},
		"nonsense for a session":      {list, map[string]string{"Mcp-Session-Id": "x"}, 404, 0},
		"no session":                  {list, map[string]string{"Mcp-Session-Id": ""}, 400, 0},
		"a foreign origin":            {list, map[string]string{"Origin": "https://evil.example"}, 403, 0},
		"the null origin":             {list, map[string]string{"Origin": "null"}, 403, 0},
		"a rebound host":              {list, map[string]string{"Host": "evil.example"}, 403, 0},
		"another media type":          {list, map[string]string{"Content-Type": "text/plain"}, 415, 0},
		"a compressed body":           {list, map[string]string{"Content-Encoding": "gzip"}, 415, 0},
		"nothing acceptable":          {list, map[string]string{"Accept": "text/html"}, 406, 0},
		"an unknown revision":         {list, map[string]string{"MCP-Protocol-Version": "2019-01-01"}, 400, 0},
		"a header against the body":   {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, map[string]string{"Mcp-Session-Id": "", "MCP-Protocol-Version": modern, "Mcp-Method": "tools/call"}, 400, -32020},
		"a modern body, a future one": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}}`, map[string]string{"Mcp-Session-Id": "", "MCP-Protocol-Version": "2027-01-01", "Mcp-Method": "tools/list"}, 400, -32022},
	} {
		r := c.send(tc.body, tc.header)
		if r.err != nil || r.status != tc.status {
			t.Errorf("%s: %d %.200s %v, want %d", name, r.status, r.body, r.err, tc.status)
			continue
		}
		if e := r.last().Error; e == nil || tc.code != 0 && e.Code != tc.code {
			t.Errorf("%s: %.200s, want a JSON-RPC error %d", name, r.body, tc.code)
		}
	}
	c.must(c.call("echo", `{"text":"still here"}`))
	if n := p.metric("fairlead_rejected_total", ""); n < 10 {
		t.Errorf("%v refusals counted", n)
	}
}

func TestThePublicPortServesOneEndpoint(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	for path, want := range map[string]int{
		"/healthz": 200, "/mcp": 405, "/mcp/": 405, // GET without a session
		"/": 404, "/readyz": 404, "/status": 404, "/metrics": 404, "/debug/pprof/": 404, "//mcp": 404,
	} {
		if code, body := p.get(p.public, path); code != want {
			t.Errorf("GET %s: %d %q, want %d", path, code, body, want)
		}
	}
	for _, path := range []string{"/", "/drain", "/metrics", "/debug/pprof/"} {
		if code, _ := p.get(p.admin, path); code != 404 {
			t.Errorf("GET %s on the admin port: %d", path, code)
		}
	}
	resp, err := http.Post(p.admin+"/readyz", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /readyz: %d", resp.StatusCode)
	}
}
