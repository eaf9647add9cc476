package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestServerAnswersAndSickens(t *testing.T) {
	web := httptest.NewServer(handler("/mcp"))
	defer web.Close()
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.InitializeResult().ProtocolVersion; got != "2025-11-25" {
		t.Errorf("negotiated %s: this server must stay a legacy one", got)
	}
	call := func(name string, args any) string {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil || r.IsError {
			t.Fatalf("%s: %v %+v", name, err, r)
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	if got := call("echo", map[string]any{"message": "hi"}); got != "hi" {
		t.Errorf("echo: %q", got)
	}
	if got := call("add", map[string]any{"a": 2, "b": 3}); got != `{"sum":5}` {
		t.Errorf("add: %q", got)
	}
	if got := call("slow", map[string]any{"ms": 1}); got != "done" {
		t.Errorf("slow: %q", got)
	}
	if got := status(t, web.URL+"/healthz"); got != 200 {
		t.Errorf("healthy server says %d", got)
	}
	call("sicken", map[string]any{})
	if got := status(t, web.URL+"/healthz"); got != 503 {
		t.Errorf("sick server says %d", got)
	}
}

func status(t *testing.T, url string) int {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}
