package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is an MCP server with sessions, in memory. down refuses connections;
// forget loses all sessions, as a restart does.
type server struct {
	conns chan net.Conn
	done  chan struct{}

	mu       sync.Mutex
	down     bool
	serial   int
	sessions map[string]bool
	log      []string // "session method" and DELETEs
	// respond overrides the answer to a request; empty means the usual one.
	respond func(w nethttp.ResponseWriter, m *jsonrpc.Message) bool
}

func (s *server) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}
func (s *server) Close() error   { return nil }
func (s *server) Addr() net.Addr { return &net.TCPAddr{} }

func (s *server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	ours, theirs := net.Pipe()
	select {
	case s.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = map[string]bool{}
}

func (s *server) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *server) answer(respond func(nethttp.ResponseWriter, *jsonrpc.Message) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.respond = respond
}

func (s *server) wrote(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, line)
}

func (s *server) count(line string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.log {
		if l == line {
			n++
		}
	}
	return n
}

func (s *server) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	body, _ := io.ReadAll(r.Body)
	m, _ := jsonrpc.Parse(body, strictjson.FromWorkload)
	if m == nil {
		m = &jsonrpc.Message{Method: r.Method}
	}
	s.mu.Lock()
	known, respond := s.sessions[id], s.respond
	if m.Method == "initialize" {
		s.serial++
		id = fmt.Sprint("s", s.serial)
		s.sessions[id], known = true, true
	}
	s.mu.Unlock()
	s.wrote(id + " " + m.Method)
	switch {
	case respond != nil && respond(w, m):
	case !known:
		w.WriteHeader(404)
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", id)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"fake","version":"`+id+`"}}}`)
	case r.Method == nethttp.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		w.(nethttp.Flusher).Flush()
		<-r.Context().Done()
	case m.Kind == jsonrpc.KindRequest:
		if m.Method == "slow" {
			time.Sleep(5 * time.Second)
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{"session":"`+id+`"}}`)
	case r.Method == nethttp.MethodDelete:
		w.WriteHeader(204)
	default:
		w.WriteHeader(202)
	}
}

// bubble runs f with a workload that is known to be of the legacy era.
func bubble(t *testing.T, cfg Config, f func(t *testing.T, w *Workload, s *server)) {
	t.Helper()
	cfg.Era = upstream.EraLegacy
	virtual(t, cfg, f)
}

// virtual runs f in virtual time.
func virtual(t *testing.T, cfg Config, f func(t *testing.T, w *Workload, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{conns: make(chan net.Conn), done: make(chan struct{}), sessions: map[string]bool{}}
		hs := &nethttp.Server{Handler: s}
		go func() { _ = hs.Serve(s) }()
		cfg.Port, cfg.Path, cfg.Dial = 3000, "/mcp", s.dial
		w := New(cfg)
		f(t, w, s)
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		w.Shutdown(ctx)
		close(s.done)
		_ = hs.Close()
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.down && s.respond == nil {
			for id := range s.sessions {
				if !slices.Contains(s.log, id+" DELETE") {
					t.Errorf("session %s was never deleted: %s", id, strings.Join(s.log, ", "))
				}
			}
		}
	})
}
