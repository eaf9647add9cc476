package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// server is one conversation: a process on stdio, a session over HTTP.
type server struct {
	mu      sync.Mutex
	nextID  int
	asked   map[string]chan json.RawMessage // reverse calls by id
	running map[string]chan struct{}        // requests by id, closed by cancel
	cancels int
	notices int // notifications/initialized
}

func newServer() *server {
	return &server{asked: map[string]chan json.RawMessage{}, running: map[string]chan struct{}{}}
}

// take handles what is not a request; it reports whether m was one.
func (s *server) take(m message, raw []byte) (request bool) {
	switch {
	case m.Method == "":
		var answer struct{ Result, Error json.RawMessage }
		_ = json.Unmarshal(raw, &answer)
		s.mu.Lock()
		c := s.asked[string(m.ID)]
		delete(s.asked, string(m.ID))
		s.mu.Unlock()
		if c != nil {
			c <- append(answer.Result, answer.Error...)
		}
	case m.ID == nil:
		s.notified(m)
	default:
		return true
	}
	return false
}

func (s *server) notified(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Method {
	case "notifications/initialized":
		s.notices++
	case "notifications/cancelled":
		var p struct{ RequestID json.RawMessage }
		_ = json.Unmarshal(m.Params, &p)
		s.cancels++
		if c := s.running[string(p.RequestID)]; c != nil {
			close(c)
			delete(s.running, string(p.RequestID))
		}
	}
}

// serve answers a request; send carries notifications and reverse requests.
// nil means that nothing is to be answered.
func (s *server) serve(m message, send func(message)) *message {
	cancelled := make(chan struct{})
	s.mu.Lock()
	s.running[string(m.ID)] = cancelled
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, string(m.ID))
	}()
	answer := &message{JSONRPC: "2.0", ID: m.ID}
	switch m.Method {
	case "initialize":
		answer.Result = s.initialize(m.Params)
	case "ping":
		answer.Result = struct{}{}
	case "tools/list":
		answer.Result = map[string]any{"tools": tools()}
	case "tools/call":
		text, ok := s.call(m.Params, cancelled, send)
		if !ok {
			return nil
		}
		answer.Result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	default:
		answer.Error = map[string]any{"code": -32601, "message": "no such method"}
	}
	return answer
}

func (s *server) initialize(params json.RawMessage) any {
	var p struct{ ProtocolVersion string }
	_ = json.Unmarshal(params, &p)
	if !strings.HasPrefix(p.ProtocolVersion, "202") || p.ProtocolVersion > "2025-11-25" {
		p.ProtocolVersion = "2025-06-18"
	}
	return map[string]any{
		"protocolVersion": p.ProtocolVersion,
		"capabilities":    map[string]any{"tools": struct{}{}},
		"serverInfo":      map[string]any{"name": "dataplane-workload", "version": "1.0.0"},
	}
}

func tools() (list []any) {
	for _, name := range []string{"echo", "sleep", "progress", "ask", "pid", "die", "state"} {
		list = append(list, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
	}
	return list
}

type arguments struct {
	Text  string
	MS    int
	Steps int
}

func (s *server) call(params json.RawMessage, cancelled <-chan struct{}, send func(message)) (text string, ok bool) {
	var p struct {
		Name      string
		Arguments arguments
		Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p)
	switch p.Name {
	case "echo":
		return p.Arguments.Text, true
	case "sleep":
		select {
		case <-time.After(time.Duration(p.Arguments.MS) * time.Millisecond):
			return "slept", true
		case <-cancelled:
			return "", false
		}
	case "progress":
		for i := range p.Arguments.Steps {
			send(message{JSONRPC: "2.0", Method: "notifications/progress", Params: raw(map[string]any{
				"progressToken": p.Meta.ProgressToken, "progress": i + 1, "total": p.Arguments.Steps,
			})})
		}
		return "done", true
	case "ask":
		return s.ask(cancelled, send)
	case "pid":
		return fmt.Sprint(os.Getpid()), true
	case "die":
		fmt.Fprintln(os.Stderr, "told to die")
		os.Exit(7)
	case "state":
		s.mu.Lock()
		defer s.mu.Unlock()
		return fmt.Sprintf("cancels=%d initialized=%d", s.cancels, s.notices), true
	}
	return "no such tool: " + p.Name, true
}

// ask makes a reverse call and returns what came back.
func (s *server) ask(cancelled <-chan struct{}, send func(message)) (string, bool) {
	s.mu.Lock()
	s.nextID++
	id := fmt.Sprint(s.nextID)
	c := make(chan json.RawMessage, 1)
	s.asked[id] = c
	s.mu.Unlock()
	send(message{JSONRPC: "2.0", ID: json.RawMessage(id), Method: "sampling/createMessage", Params: raw(map[string]any{
		"maxTokens": 10, "messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "hello?"}}},
	})})
	select {
	case answer := <-c:
		return string(answer), true
	case <-cancelled:
		return "", false
	}
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
