package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// forgetful is a server with sessions that forgets them when it is told to.
type forgetful struct {
	mu      sync.Mutex
	session int
	forget  bool // everything but initialize is 404 until then
	log     []string
}

func (s *forgetful) serve(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, strings.TrimPrefix(m.Method+" "+r.Header.Get("Mcp-Session-Id"), "notifications/"))
	id := fmt.Sprintf("s%d", s.session)
	switch {
	case m.Method == mcp.MethodDiscover:
		http.Error(w, "no", http.StatusBadRequest)
	case m.Method == mcp.MethodInitialize:
		s.session++
		s.forget = false
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", s.session))
		reply(w, 200, m, initiated)
	case s.forget || r.Header.Get("Mcp-Session-Id") != id:
		http.Error(w, "unknown session", http.StatusNotFound)
	case m.Kind == jsonrpc.KindRequest:
		reply(w, 200, m, `"result":{"content":[{"type":"text","text":"`+id+`"}]}`)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// W10.7, R10: a session that is gone is begun again, and what was refused is
// made again, whatever it is.
func TestSessionGone(t *testing.T) {
	for name, policy := range map[string]Reconnect{"begun again": {}, "or not, as the policy says": {Never: true}} {
		t.Run(name, func(t *testing.T) {
			s := &forgetful{}
			web := start(t, s.serve)
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c, err := Connect(t.Context(), Options{
				Server: HTTP{URL: web.URL, Client: &http.Client{Transport: transport}}, Reconnect: policy,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s.mu.Lock()
			s.forget = true
			s.mu.Unlock()
			r, err := c.CallTool(t.Context(), "x", nil)
			if policy.Never {
				if peer.ReasonOf(err) != peer.SessionGone && peer.ReasonOf(err) != peer.Closed {
					t.Error(err)
				}
				return
			}
			if err != nil || r.Text() != "s2" {
				t.Fatal(r, err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			got := strings.Join(s.log, ",")
			const want = "server/discover ,initialize ,initialized s1,tools/call s1,ping s1,initialize ,initialized s2,tools/call s2"
			if got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// W13.7, P34: a server that knows no POST at its address is spoken to over
// HTTP+SSE.
func TestFallbackToHTTPSSE(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"in plain text":       func(w http.ResponseWriter) { http.Error(w, "GET only", http.StatusMethodNotAllowed) },
		"in the words of RPC": func(w http.ResponseWriter) { stranger(w, http.StatusMethodNotAllowed) },
	} {
		t.Run(name, func(t *testing.T) { fallsBack(t, refuse) })
	}
}

func fallsBack(t *testing.T, refuse func(w http.ResponseWriter)) {
	events := make(chan string, 16)
	web := start(t, func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/mcp":
			refuse(w)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\ndata: /say?sessionId=1\n\n")
			w.(http.Flusher).Flush()
			for {
				select {
				case e := <-events:
					_, _ = io.WriteString(w, "event: message\ndata: "+e+"\n\n")
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		default:
			w.WriteHeader(http.StatusAccepted)
			switch m.Method {
			case mcp.MethodInitialize:
				events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, initiated)
			case mcp.MethodToolsCall:
				events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"old"}]}}`, m.ID)
			}
		}
	})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := Connect(t.Context(), Options{Server: HTTP{URL: web.URL + "/mcp", Client: &http.Client{Transport: transport}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.CallTool(t.Context(), "x", nil)
	if err != nil || r.Text() != "old" || c.Binding() != mcp.HTTPSSE {
		t.Error(r, err, c.Binding())
	}
}

// onceAuth gives a token that must be renewed once, then for more scopes.
type onceAuth struct {
	mu         sync.Mutex
	challenges []string
	give       bool
}

func (a *onceAuth) Authorize(r *http.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Header.Set("Authorization", fmt.Sprintf("Bearer t%d", len(a.challenges)))
	return nil
}

func (a *onceAuth) Challenged(_ context.Context, resp *http.Response) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.challenges = append(a.challenges, resp.Header.Get("WWW-Authenticate"))
	return a.give, nil
}

// W38.12: a challenge is answered, a bounded number of times.
func TestChallengesAreAnswered(t *testing.T) {
	for name, tc := range map[string]struct {
		takes string
		give  bool
		asked int
		fails bool
	}{
		"a new token is taken":       {"Bearer t1", true, 1, false},
		"more scopes are taken":      {"Bearer t2", true, 2, false},
		"nothing is ever enough":     {"Bearer never", true, 2, true},
		"nothing better can be had ": {"Bearer t1", false, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			web := start(t, func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
				if r.Header.Get("Authorization") != tc.takes {
					w.Header().Set("WWW-Authenticate", `Bearer scope="a"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				reply(w, 200, m, discovered)
			})
			auth := &onceAuth{give: tc.give}
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c, err := Connect(t.Context(), Options{Server: HTTP{URL: web.URL, Client: &http.Client{Transport: transport}, Auth: auth}})
			if err == nil {
				_ = c.Close()
			}
			if (err != nil) != tc.fails || tc.fails && peer.ReasonOf(err) != peer.Auth {
				t.Error(err)
			}
			if len(auth.challenges) != tc.asked || auth.challenges[0] != `Bearer scope="a"` {
				t.Error(auth.challenges)
			}
		})
	}
}
