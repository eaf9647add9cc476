package workload_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/test/conformance/workload"
)

// ask is one raw request to the workload.
type ask struct {
	method, name string // name is also the header's
	params       string // members beside the envelope
	envelope     string // instead of the usual one
	header       map[string]string
	host         string
}

const usual = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true},"vendor/made-up":{"x":1}}}`

func envelopeOf(version string) string { return strings.Replace(usual, "2026-07-28", version, 1) }

// do returns the HTTP status and the JSON-RPC error code, 0 for a result.
func (a ask) do(t *testing.T, s *httptest.Server) (status int, code int64) {
	t.Helper()
	members := []string{}
	if a.envelope == "" {
		a.envelope = usual
	}
	for _, m := range []string{a.params, a.envelope} {
		if m != "" && m != "none" {
			members = append(members, m)
		}
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, a.method, strings.Join(members, ","))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", a.method)
	if a.name != "" {
		r.Header.Set("Mcp-Name", a.name)
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	if a.host != "" {
		r.Host = a.host
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Error struct{ Code int64 } }
	if err := json.Unmarshal(raw, &m); err != nil && resp.StatusCode == http.StatusOK {
		t.Errorf("no JSON: %s", raw)
	}
	return resp.StatusCode, m.Error.Code
}

func served(t *testing.T) *httptest.Server {
	t.Helper()
	w, err := workload.New(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(w.Front(nil))
	t.Cleanup(func() {
		if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}

func discover(change func(*ask)) ask {
	a := ask{method: "server/discover"}
	change(&a)
	return a
}

// region calls the tool whose parameter travels in a header too.
func region(value, header string) ask {
	return ask{
		method: "tools/call", name: "test_header_parameter",
		params: fmt.Sprintf(`"name":"test_header_parameter","arguments":{"region":%q}`, value),
		header: map[string]string{"Mcp-Param-Region": header},
	}
}

// What the suite asks of the edge, as a table of our own: W14.13, W15.23,
// W15.24, W17.4, W41.5.
func TestEdgeAnswersAsTheSuiteWants(t *testing.T) {
	s := served(t)
	for name, test := range map[string]struct {
		ask    ask
		status int
		code   int64
	}{
		// W41.5
		"unknown capabilities are tolerated": {discover(func(*ask) {}), 200, 0},
		// W15.24
		"no envelope although the header is modern":      {discover(func(a *ask) { a.envelope = "none" }), 400, -32602},
		"another version in the body than in the header": {discover(func(a *ask) { a.envelope = envelopeOf("v999") }), 400, -32020},
		"a version that nobody knows": {discover(func(a *ask) {
			a.envelope, a.header = envelopeOf("v999"), map[string]string{"MCP-Protocol-Version": "v999"}
		}), 400, -32022},
		// W17.4
		"a host from elsewhere": {discover(func(a *ask) { a.host = "evil.example.com" }), 403, -32600},
		"an origin from elsewhere": {discover(func(a *ask) {
			a.header = map[string]string{"Origin": "http://evil.example.com"}
		}), 403, -32600},
		"localhost with another port": {discover(func(a *ask) { a.host = "localhost:1234" }), 200, 0},
		"the other loopback address":  {discover(func(a *ask) { a.host = "[::1]:80" }), 200, 0},
		"an origin from here": {discover(func(a *ask) {
			a.header = map[string]string{"Origin": "http://localhost:3000"}
		}), 200, 0},
		// W15.23
		"a value in base64":                  {region("Hello", "=?base64?SGVsbG8=?="), 200, 0},
		"base64 without its padding":         {region("Hello", "=?base64?SGVsbG8?="), 400, -32020},
		"base64 with other letters":          {region("Hello", "=?base64?SGVs!!!bG8=?="), 400, -32020},
		"base64 without its prefix is text":  {region("SGVsbG8=", "SGVsbG8="), 200, 0},
		"base64 without its suffix is text":  {region("=?base64?SGVsbG8=", "=?base64?SGVsbG8="), 200, 0},
		"base64 with a loud prefix is text":  {region("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="), 200, 0},
		"an empty value is an empty header":  {region("", ""), 200, 0},
		"blanks inside a value stay":         {region("us west 1", "us west 1"), 200, 0},
		"another value than in the body":     {region("Hello", "Goodbye"), 400, -32020},
		"a removed method: initialize":       {ask{method: "initialize"}, 404, -32601}, // W14.13
		"a removed method: ping":             {ask{method: "ping"}, 404, -32601},
		"a removed method: logging/setLevel": {ask{method: "logging/setLevel", params: `"level":"info"`}, 404, -32601},
		"a removed method: subscribe":        {ask{method: "resources/subscribe", params: `"uri":"test://watched-resource"`}, 404, -32601},
		"a removed method: unsubscribe":      {ask{method: "resources/unsubscribe", params: `"uri":"test://watched-resource"`}, 404, -32601},
	} {
		t.Run(name, func(t *testing.T) {
			if status, code := test.ask.do(t, s); status != test.status || code != test.code {
				t.Errorf("status %d, code %d; want %d, %d", status, code, test.status, test.code)
			}
		})
	}
}

// W41.4: the fixtures by name, so that a missing one shows here and not as a
// scenario that says "not testable".
func TestFixturesAreThere(t *testing.T) {
	s := served(t)
	listed := func(method, member string) map[string]bool {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, usual)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var m struct {
			Result map[string]json.RawMessage
		}
		if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
			t.Fatal(err)
		}
		var items []struct{ Name string }
		if err := json.Unmarshal(m.Result[member], &items); err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, item := range items {
			out[item.Name] = true
		}
		return out
	}
	tools, prompts := listed("tools/list", "tools"), listed("prompts/list", "prompts")
	for _, name := range []string{
		"test_missing_capability", "test_streaming_elicitation", "test_logging_tool", "test_trigger_tool_change", "test_trigger_prompt_change",
		"test_input_required_result_elicitation", "test_input_required_result_sampling", "test_input_required_result_list_roots",
		"test_input_required_result_request_state", "test_input_required_result_multiple_inputs", "test_input_required_result_multi_round",
		"test_input_required_result_tampered_state", "test_input_required_result_capabilities",
		"greet", "slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input", "test_tool_with_task", "test_header_parameter",
	} {
		if !tools[name] {
			t.Errorf("no tool %s", name)
		}
	}
	if !prompts["test_input_required_result_prompt"] {
		t.Error("no prompt test_input_required_result_prompt")
	}
}
