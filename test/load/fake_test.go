package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// fake is an endpoint of both eras whose faults the tests choose.
type fake struct {
	t *testing.T
	*httptest.Server

	mu       sync.Mutex
	sessions map[string]bool
	made     int            // sessions ever
	calls    map[string]int // requests of tools/call by era
	fault    func(n int, w http.ResponseWriter, r *http.Request) bool
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, sessions: map[string]bool{}, calls: map[string]int{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// forget ends every session, as a pod that goes away does.
func (f *fake) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.sessions)
}

func (f *fake) known(session string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[session]
}

func (f *fake) open() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	s := fmt.Sprintf("s%d", f.made)
	f.sessions[s] = true
	return s
}

func (f *fake) count(era string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[era]++
	return f.calls["modern"] + f.calls["legacy"]
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("Mcp-Session-Id")
	if session != "" && !f.known(session) {
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": ok\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	case http.MethodDelete:
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Arguments struct{ Ms int }
			Meta      map[string]any `json:"_meta"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		f.t.Errorf("body: %v", err)
	}
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", f.open())
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, m.ID)
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	case "tools/call":
		era := "legacy"
		if session == "" {
			era = "modern"
			if m.Params.Meta["io.modelcontextprotocol/protocolVersion"] != "2026-07-28" || r.Header.Get("Mcp-Name") == "" {
				f.t.Errorf("a modern request without its envelope: %v", m)
			}
		}
		if n := f.count(era); f.fault != nil && f.fault(n, w, r) {
			return
		}
		time.Sleep(time.Duration(m.Params.Arguments.Ms) * time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: x.1\ndata: \n\n: ping\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"pod=a\"}]}}\n\n", m.ID)
	default:
		f.t.Errorf("unexpected method %q", m.Method)
	}
}
