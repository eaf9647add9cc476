package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// endpoint is a MCP server of one era. Its list has two pages, the second of
// which names itself again.
func endpoint(t *testing.T, modern bool) string {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Cursor, Name string
				Arguments    json.RawMessage
				Meta         map[string]any `json:"_meta"`
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		if asked := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]; modern && asked != "2026-07-28" {
			t.Errorf("%s without the envelope", m.Method)
		}
		if modern && m.Method == "tools/call" && r.Header.Get("Mcp-Name") != m.Params.Name {
			t.Errorf("Mcp-Name %q", r.Header.Get("Mcp-Name"))
		}
		answer := func(member, value string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%q:%s}`, m.ID, member, value)
		}
		switch {
		case m.Method == "server/discover" && modern:
			answer("result", `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"t","version":"1"}}`)
		case m.Method == "server/discover":
			w.WriteHeader(http.StatusBadRequest)
			answer("error", `{"code":-32000,"message":"Bad Request: no session"}`)
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			answer("result", `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`)
		case m.Method == "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "tools/list" && m.Params.Cursor == "":
			answer("result", `{"tools":[{"name":"a"}],"nextCursor":"2"}`)
		case m.Method == "tools/list":
			answer("result", `{"tools":[{"name":"b"}],"nextCursor":"2"}`)
		case m.Params.Name == "asks":
			answer("result", `{"resultType":"input_required","requestState":"x","inputRequests":{"q":{"method":"roots/list","params":{}}}}`)
		case m.Params.Name == "a":
			answer("result", `{"content":[{"type":"text","text":`+string(quoted(m.Params.Arguments))+`}]}`)
		default:
			answer("error", `{"code":-32602,"message":"Unknown tool: no_such_tool"}`)
		}
	}))
	t.Cleanup(web.Close)
	return web.URL + "/mcp"
}

func TestDialSpeaksEitherEra(t *testing.T) {
	for name, c := range map[string]struct {
		modern   bool
		revision string
	}{
		"a stateless server":     {true, "2026-07-28"},
		"a server with sessions": {false, "2025-06-18"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := dialMCP(t.Context(), endpoint(t, c.modern))
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			if s.revision() != c.revision {
				t.Errorf("speaks %s", s.revision())
			}
			tools, err := s.tools(t.Context())
			if err != nil || len(tools) != 2 {
				t.Errorf("%d tools, %v: a cursor that repeats ends the list", len(tools), err)
			}
			// Numbers reach the server as they were typed.
			raw, err := s.call(t.Context(), "a", json.RawMessage(`{"n":12345678901234567890}`))
			if err != nil || !strings.Contains(string(raw), "12345678901234567890") {
				t.Errorf("%s, %v", raw, err)
			}
			if _, err := s.call(t.Context(), "no_such_tool", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "Unknown tool") {
				t.Errorf("%v", err)
			}
			if _, err := s.call(t.Context(), "asks", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "asks back") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestDialSaysWhatBothErasAnswered(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	_, err := dialMCP(t.Context(), web.URL)
	if err == nil || !strings.Contains(err.Error(), "server/discover") || !strings.Contains(err.Error(), "initialize") {
		t.Errorf("%v", err)
	}
	web.Close()
	if _, err := dialMCP(t.Context(), web.URL); err == nil || strings.Contains(err.Error(), "initialize") {
		t.Errorf("nobody listens: %v", err)
	}
}
