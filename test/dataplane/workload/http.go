package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// endpoint is a streamable HTTP server with sessions.
type endpoint struct {
	o        options
	mu       sync.Mutex
	sessions map[string]*server
}

func serveHTTP(o options) error {
	if o.deaf {
		select {}
	}
	e := &endpoint{o: o, sessions: map[string]*server{}}
	return http.ListenAndServe(net.JoinHostPort(o.address, fmt.Sprint(o.port)), e)
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.o.silent {
		<-r.Context().Done()
		return
	}
	if r.Method != http.MethodPost && r.Method != http.MethodDelete {
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m message
	_ = json.Unmarshal(body, &m)
	s := e.session(w, r, m.Method == "initialize")
	switch {
	case s == nil:
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		e.mu.Lock()
		delete(e.sessions, r.Header.Get("Mcp-Session-Id"))
		e.mu.Unlock()
	case !s.take(m, body):
		w.WriteHeader(http.StatusAccepted)
	default:
		e.answer(w, s, m)
	}
}

func (e *endpoint) session(w http.ResponseWriter, r *http.Request, fresh bool) *server {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !fresh {
		return e.sessions[r.Header.Get("Mcp-Session-Id")]
	}
	id := fmt.Sprint(time.Now().UnixNano())
	e.sessions[id] = newServer()
	w.Header().Set("Mcp-Session-Id", id)
	return e.sessions[id]
}

// answer replies with JSON, or with events if something comes first.
func (e *endpoint) answer(w http.ResponseWriter, s *server, m message) {
	var mu sync.Mutex
	streaming := false
	event := func(v message) {
		mu.Lock()
		defer mu.Unlock()
		if !streaming {
			w.Header().Set("Content-Type", "text/event-stream")
			streaming = true
		}
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", raw(v))
		_ = http.NewResponseController(w).Flush()
	}
	answer := s.serve(m, event)
	switch {
	case answer == nil:
		w.Header().Set("Content-Type", "text/event-stream")
	case streaming:
		event(*answer)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw(answer))
	}
}
