package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// revisions that have a handshake, oldest first.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// outlet takes messages towards the client. Where it leads is the transport's.
type outlet func(raw []byte)

// session is one client's state, whatever the transport.
type session struct {
	o options
	// push is for messages that belong to no request.
	push outlet

	mu          sync.Mutex
	initialized bool
	lastID      int
	calls       map[string]context.CancelFunc // requests in work, by id
	asked       map[string]chan message       // our requests, by id
}

func newSession(o options, push outlet) *session {
	return &session{o: o, push: push, calls: map[string]context.CancelFunc{}, asked: map[string]chan message{}}
}

// call is a request in work.
type call struct {
	*session
	message
	out   outlet
	token json.RawMessage // for progress, or nil
}

// request serves m and returns the answer, nil for none. Everything that is
// sent before goes to out.
func (s *session) request(ctx context.Context, m message, out outlet) []byte {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.calls[string(m.ID)] = cancel
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, string(m.ID))
		s.mu.Unlock()
	}()
	c := &call{session: s, message: m, out: out, token: progressToken(m.Params)}
	result, err := c.serve(ctx)
	if ctx.Err() != nil || s.o.noResult {
		return nil // cancelled: no answer
	}
	if err != nil {
		var f *failure
		if !errors.As(err, &f) {
			f = &failure{codeInvalidParams, err.Error()}
		}
		return encode(message{ID: s.answerID(m.ID), Error: f})
	}
	return encode(message{ID: s.answerID(m.ID), Result: raw(result)})
}

func (s *session) answerID(id json.RawMessage) json.RawMessage {
	if s.o.idsAsStrings && len(id) > 0 && id[0] != '"' {
		return raw(string(id))
	}
	return id
}

func progressToken(params json.RawMessage) json.RawMessage {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil || string(p.Meta.Token) == "null" {
		return nil
	}
	return p.Meta.Token
}

func (c *call) serve(ctx context.Context) (any, error) {
	c.mu.Lock()
	early := !c.initialized && c.o.refuseBefore
	c.mu.Unlock()
	switch c.Method {
	case "initialize":
		return c.initialize()
	case "ping":
		return object{}, nil
	}
	if early {
		return nil, &failure{codeInvalidRequest, "received a request before initialization was complete"}
	}
	switch c.Method {
	case "tools/list":
		return object{"tools": listTools()}, nil
	case "tools/call":
		return c.tool(ctx)
	}
	return nil, &failure{codeMethodNotFound, "unknown method " + c.Method}
}

func (c *call) initialize() (any, error) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return nil, err
	}
	revision := p.ProtocolVersion
	if !slices.Contains(revisions, revision) {
		revision = revisions[len(revisions)-1]
	}
	if c.o.revision != "" {
		revision = c.o.revision
	}
	result := object{
		"protocolVersion": revision,
		"capabilities":    object{"tools": object{"listChanged": true}},
		"serverInfo":      object{"name": "testworkload", "version": "1.0.0"},
	}
	if c.o.instructions > 0 {
		result["instructions"] = strings.Repeat("a", c.o.instructions)
	}
	return result, nil
}

// notification takes a notification of the client's.
func (s *session) notification(m message) {
	switch m.Method {
	case "notifications/initialized":
		s.mu.Lock()
		s.initialized = true
		s.mu.Unlock()
	case "notifications/cancelled":
		if s.o.dieOnCancel {
			os.Exit(1)
		}
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			return
		}
		s.mu.Lock()
		cancel := s.calls[string(p.RequestID)]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
}

// response takes an answer to one of our requests.
func (s *session) response(m message) {
	s.mu.Lock()
	waiting := s.asked[string(m.ID)]
	delete(s.asked, string(m.ID))
	s.mu.Unlock()
	if waiting != nil {
		waiting <- m
	}
}

// ask makes a request to the client on c's stream and waits for its answer.
func (c *call) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.lastID++ // small numbers, which clash with the client's own on purpose
	id := strconv.Itoa(c.lastID)
	c.asked[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asked, id)
		c.mu.Unlock()
	}()
	c.out(encode(message{ID: json.RawMessage(id), Method: method, Params: raw(params)}))
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %d %s", method, m.Error.Code, m.Error.Message)
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// notify sends a notification on c's stream.
func (c *call) notify(method string, params any) {
	c.out(encode(message{Method: method, Params: raw(params)}))
}
