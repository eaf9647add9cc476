package proxy_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
)

// What has to be ended first is not promised to end at once (B7, B12.13).
func TestPromptRequests(t *testing.T) {
	p := proxy.New(proxy.Config{})
	t.Cleanup(p.Close)
	for name, test := range map[string]struct {
		revision, method, params, capabilities string
		want                                   bool
	}{
		"a call":                           {"2026-07-28", "tools/call", `{"name":"t"}`, `{}`, true},
		"a list":                           {"2026-07-28", "tools/list", `{}`, `{}`, true},
		"a call that may ask":              {"2026-07-28", "tools/call", `{"name":"t"}`, `{"sampling":{}}`, false},
		"a list of a client that is asked": {"2026-07-28", "tools/list", `{}`, `{"sampling":{}}`, true},
		"a call that brings answers":       {"2026-07-28", "tools/call", `{"name":"t","inputResponses":{}}`, `{}`, false},
		"a call with logs":                 {"2026-07-28", "tools/call", `{"name":"t","_meta":{"io.modelcontextprotocol/logLevel":"info"}}`, `{}`, false},
		"a subscription":                   {"2026-07-28", "subscriptions/listen", `{}`, `{}`, false},
		"a task":                           {"2026-07-28", "tasks/get", `{"taskId":"t"}`, `{}`, false},
		"a method of nobody's":             {"2026-07-28", "x/y", `{}`, `{}`, false},
		"a request that lacks a session":   {"2025-11-25", "tools/call", `{"name":"t"}`, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+test.method+`","params":`+test.params+`}`), strictjson.FromClient)
			if err != nil {
				t.Fatal(err)
			}
			profile, _ := mcp.Lookup(test.revision)
			x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: m, Profile: profile, ClientCapabilities: []byte(test.capabilities)})
			if p.Prompt(x) != test.want {
				t.Errorf("prompt: %v", !test.want)
			}
		})
	}
}
