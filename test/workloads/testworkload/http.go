package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

const (
	maxBody     = 64 << 20
	maxSessions = 10_000
	// shutdownTime is how long answers may take after SIGTERM.
	shutdownTime = 4 * time.Second
)

// sick makes /healthz fail; the tool health sets it.
var sick atomic.Bool

// httpServer is the streamable HTTP transport.
type httpServer struct {
	o    options
	port string

	mu       sync.Mutex
	sessions map[string]*httpSession
}

// httpSession is a session and its streams.
type httpSession struct {
	*session
	idle *stream // what belongs to no request; GET follows it

	mu      sync.Mutex
	streams map[string]*stream
	ctx     context.Context
	end     context.CancelFunc
}

func newHTTPSession(o options) *httpSession {
	h := &httpSession{streams: map[string]*stream{}}
	h.ctx, h.end = context.WithCancel(context.Background())
	h.idle = h.stream()
	h.session = newSession(o, h.idle.append)
	return h
}

// stream makes a stream that may be resumed as long as the session lives.
func (h *httpSession) stream() *stream {
	s := newStream(rand.Text())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[s.id] = s
	return s
}

// serveHTTP serves until SIGTERM.
func serveHTTP(o options) error {
	port := o.port
	if port == "" {
		port = os.Getenv("MCP_PORT")
	}
	if port == "" {
		port = "3000"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is no port (is a Service called mcp in the namespace?)", port)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(o.listen, port))
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening on", l.Addr())
	_, port, _ = net.SplitHostPort(l.Addr().String())
	h := &httpServer{o: o, port: port, sessions: map[string]*httpSession{}}
	server := &http.Server{Handler: record.Handler(h.handler(), o.record), ReadHeaderTimeout: 10 * time.Second}
	term, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-term.Done()
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close()
		}
	}()
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	<-done
	return nil
}

func (h *httpServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, err := os.Stat(h.o.healthFile)
		if sick.Load() || h.o.healthFile != "" && err == nil {
			http.Error(w, "sick", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /mcp", h.post)
	mux.HandleFunc("GET /mcp", h.get)
	mux.HandleFunc("DELETE /mcp", h.delete)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.o.exactHost && r.Host != "127.0.0.1:"+h.port && r.Host != "localhost:"+h.port {
			http.Error(w, "Invalid Host header", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (h *httpServer) post(w http.ResponseWriter, r *http.Request) {
	if h.o.answerWithStatus > 0 {
		w.WriteHeader(h.o.answerWithStatus)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m.Method == "initialize" {
		h.initialize(w, r, m)
		return
	}
	s := h.find(w, r)
	switch {
	case s == nil:
	case m.Method == "":
		s.response(m)
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		s.notification(m)
		w.WriteHeader(http.StatusAccepted)
	default:
		h.request(w, r, s, m)
	}
}

func (h *httpServer) initialize(w http.ResponseWriter, r *http.Request, m message) {
	s := newHTTPSession(h.o)
	if !h.o.stateless {
		id := rand.Text()
		h.mu.Lock()
		full := len(h.sessions) >= maxSessions
		if !full {
			h.sessions[id] = s
		}
		h.mu.Unlock()
		if full {
			http.Error(w, "too many sessions", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Mcp-Session-Id", id)
	}
	answerJSON(w, r, s.session.request(s.ctx, m, s.push))
}

// find returns the request's session, or answers why there is none.
func (h *httpServer) find(w http.ResponseWriter, r *http.Request) *httpSession {
	if h.o.stateless {
		return newHTTPSession(h.o)
	}
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		http.Error(w, "Mcp-Session-Id is missing", http.StatusBadRequest)
		return nil
	}
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil {
		http.Error(w, "session not found", http.StatusNotFound)
	}
	return s
}

// request serves m in the session's own time, so that a client that loses the
// response may come back for it.
func (h *httpServer) request(w http.ResponseWriter, r *http.Request, s *httpSession, m message) {
	if m.Method != "tools/call" {
		answerJSON(w, r, s.session.request(s.ctx, m, s.push))
		return
	}
	out := s.stream()
	go func() {
		defer out.end()
		if answer := s.session.request(s.ctx, m, out.append); answer != nil {
			out.append(answer)
		}
	}()
	if h.o.answerJSON {
		if only := out.only(r.Context()); only != nil {
			answerJSON(w, r, only)
			return
		}
	}
	out.follow(r.Context(), w, 0)
}

// answerJSON answers with raw; if there is none it lets the client wait.
func answerJSON(w http.ResponseWriter, r *http.Request, raw []byte) {
	if raw == nil {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

// get opens the stream for what belongs to no request, or resumes any.
func (h *httpServer) get(w http.ResponseWriter, r *http.Request) {
	if h.o.stateless {
		w.Header().Set("Allow", "POST")
		http.Error(w, "no streams here", http.StatusMethodNotAllowed)
		return
	}
	s := h.find(w, r)
	if s == nil {
		return
	}
	out, from := s.idle, s.idle.unsent()
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		id, seq, ok := position(last)
		s.mu.Lock()
		out, from = s.streams[id], seq
		s.mu.Unlock()
		if !ok || out == nil {
			http.Error(w, "unknown event id", http.StatusBadRequest)
			return
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	out.follow(ctx, w, from)
}

// delete ends the session, its streams and its calls.
func (h *httpServer) delete(w http.ResponseWriter, r *http.Request) {
	if h.o.stateless {
		w.Header().Set("Allow", "POST")
		http.Error(w, "no sessions here", http.StatusMethodNotAllowed)
		return
	}
	s := h.find(w, r)
	if s == nil {
		return
	}
	h.mu.Lock()
	delete(h.sessions, r.Header.Get("Mcp-Session-Id"))
	h.mu.Unlock()
	s.end()
	w.WriteHeader(http.StatusNoContent)
}
