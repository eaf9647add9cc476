package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// mirrored calls a tool with one Mcp-Param-Region header, "" for none.
func (c *client) mirrored(tool, arguments, region string) response {
	return c.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, func(h http.Header) {
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", "tools/call")
		h.Set("Mcp-Name", tool)
		if region != "" {
			h.Set("Mcp-Param-Region", region)
		}
	}).rest()
}

func TestClientsAreHeldToTheHeadersOfATool(t *testing.T) { // B5.9, P25, W15.17
	const tool = `{"name":"t","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}}`
	page := &page{tool: func() string { return tool }, call: echoCall}
	fronts := map[string]func(t *testing.T) *rig{
		"a legacy workload": func(t *testing.T) *rig {
			return serve(t, plain(script{"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[` + tool + `]}}`}}))
		},
		"a modern workload": func(t *testing.T) *rig { return inFront(t, page) },
	}
	for name, make := range fronts {
		t.Run(name, func(t *testing.T) {
			r := make(t)
			r.front.ParamSchema = r.proxy.ParamSchema
			m := r.modern()
			if res := m.mirrored("t", `{"r":"eu"}`, "us"); res.status != 400 || !strings.Contains(res.messages[0], "-32020") {
				t.Errorf("another value: %d %v", res.status, res.messages)
			}
			if res := m.mirrored("t", `{"r":"eu"}`, ""); res.status != 400 || !strings.Contains(res.messages[0], "-32020") {
				t.Errorf("no value: %d %v", res.status, res.messages)
			}
			if res := m.mirrored("t", `{"r":"eu"}`, "eu"); res.status != 200 {
				t.Errorf("the same value: %d %v", res.status, res.messages)
			}
			if res := m.mirrored("never-heard-of", `{"r":"eu"}`, "us"); res.status != 200 {
				t.Errorf("an unknown tool: %d %v", res.status, res.messages)
			}
		})
	}
}
