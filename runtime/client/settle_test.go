package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W5.3
func TestServerThatRefusesWhatItHasIsAskedOnceMore(t *testing.T) {
	for name, test := range map[string]struct {
		refusals int32
		works    bool
	}{
		"refused once":   {1, true},
		"refused always": {1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				if !strings.Contains(string(body), mcp.MethodDiscover) {
					w.WriteHeader(http.StatusNotFound)
					_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, rawID(body))
					return
				}
				if asked.Add(1) <= test.refusals {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`, rawID(body))
					return
				}
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}`, rawID(body))
			}))
			defer s.Close()
			c, err := Connect(t.Context(), Options{Server: HTTP{URL: s.URL, Client: s.Client(), NoSSE: true}})
			if (err == nil) != test.works {
				t.Fatalf("connected: %v", err)
			}
			if err == nil {
				defer c.Close()
			}
			if n := asked.Load(); n != 2 {
				t.Errorf("asked %d times, want 2", n)
			}
		})
	}
}

// P6
func TestNoCallBeforeTheServerCanAsk(t *testing.T) {
	var listening atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s")
		if r.Method == http.MethodGet {
			time.Sleep(50 * time.Millisecond) // as a busy server does
			w.Header().Set("Content-Type", "text/event-stream")
			listening.Store(true)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"method":"initialize"`):
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, rawID(body))
		case strings.Contains(string(body), `"method":"tools/call"`):
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%v"}]}}`, rawID(body), listening.Load())
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer s.Close()
	c, err := Connect(t.Context(), Options{
		Server:   HTTP{URL: s.URL, Client: s.Client()},
		Revision: mcp.Revision20251125,
		Handlers: Handlers{Elicit: func(context.Context, ElicitRequest) (ElicitResult, error) { return ElicitResult{Action: Decline}, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.CallTool(t.Context(), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Text() != "true" {
		t.Error("a tool was called while the server could not ask")
	}
}

func rawID(body []byte) string {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(body, &m)
	return string(m.ID)
}
