package server

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// watchers are those who are told of changes: legacy sessions, and listens of
// 2026-07-28. Changes are collected for a moment and told once. Telling never
// waits: a session has a bounded queue, a listen a bounded outbox, and who does
// not read loses its own (P18).
type watchers struct {
	s *Server

	mu        sync.Mutex
	sessions  map[*sessionState]struct{}
	listeners map[*listener]struct{}
	pending   changes
	armed     bool
	closed    bool
}

// sessionState is what a session has here. It is the session's Value.
type sessionState struct {
	session dispatch.Session
	// identity is who opened the session.
	identity *auth.Identity
	// level is the least level of log messages, 0 until it is set.
	level atomic.Int32
	// told are the kinds that the session was told of at its begin: it hears
	// of no others (W4.12).
	told told

	mu   sync.Mutex
	uris map[string]struct{}
	over bool
}

// stateOf is a session's state, nil without a session.
func stateOf(s dispatch.Session) *sessionState {
	if s == nil {
		return nil
	}
	state, _ := s.Value().(*sessionState)
	return state
}

// changes are what has not been told yet.
type changes struct {
	items []change
	// all: so many that everybody is told.
	all  map[Kind]bool
	uris map[string]struct{}
}

type change struct {
	kind Kind
	name string
	own  func(Caller) bool
}

// Bounds of what is collected. Beyond maxChanges everybody is told whether they
// may see what changed or not; beyond maxUpdates telling begins at once.
const (
	maxChanges = 64
	maxUpdates = 1024
)

func (w *watchers) init(s *Server) {
	w.s = s
	w.sessions = map[*sessionState]struct{}{}
	w.listeners = map[*listener]struct{}{}
}

// told are kinds of lists.
type told struct{ tools, prompts, resources bool }

func (t told) has(kind Kind) bool {
	switch kind {
	case KindTool:
		return t.tools
	case KindPrompt:
		return t.prompts
	}
	return t.resources
}

func (w *watchers) open(session dispatch.Session, who *auth.Identity, c *capabilities) {
	state := &sessionState{session: session, identity: who, told: told{c.Tools != nil, c.Prompts != nil, c.Resources != nil}}
	session.SetValue(state)
	w.mu.Lock()
	w.sessions[state] = struct{}{}
	w.mu.Unlock()
}

func (w *watchers) end(session dispatch.Session) {
	state := stateOf(session)
	if state == nil {
		return
	}
	w.mu.Lock()
	delete(w.sessions, state)
	w.mu.Unlock()
	state.mu.Lock()
	uris := state.uris
	state.uris, state.over = nil, true
	state.mu.Unlock()
	w.s.interest.remove(uris)
}

// Sessions are the legacy sessions that are open now.
func (s *Server) Sessions() []dispatch.Session {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]dispatch.Session, 0, len(w.sessions))
	for state := range w.sessions {
		out = append(out, state.session)
	}
	return out
}

// changed notes that an item came or went.
func (w *watchers) changed(kind Kind, name string, own func(Caller) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch p := &w.pending; {
	case p.all[kind]:
	case len(p.items) >= maxChanges:
		if p.all == nil {
			p.all = map[Kind]bool{}
		}
		p.all[kind] = true
	default:
		p.items = append(p.items, change{kind, name, own})
	}
	w.arm()
}

// updated notes that a resource's contents changed.
func (w *watchers) updated(uri string) {
	w.mu.Lock()
	if w.pending.uris == nil {
		w.pending.uris = map[string]struct{}{}
	}
	w.pending.uris[uri] = struct{}{}
	full := len(w.pending.uris) >= maxUpdates
	w.arm()
	w.mu.Unlock()
	if full {
		w.tell()
	}
}

// arm starts the clock; w.mu is held. Nobody to tell, nothing to collect.
func (w *watchers) arm() {
	if len(w.sessions) == 0 && len(w.listeners) == 0 || w.closed {
		w.pending = changes{}
		return
	}
	if !w.armed {
		w.armed = true
		time.AfterFunc(w.s.opt.Coalesce, w.tell)
	}
}

// tell tells everybody what has been collected.
func (w *watchers) tell() {
	w.mu.Lock()
	p := w.pending
	w.pending, w.armed = changes{}, false
	sessions := make([]*sessionState, 0, len(w.sessions))
	for state := range w.sessions {
		sessions = append(sessions, state)
	}
	listeners := make([]*listener, 0, len(w.listeners))
	for l := range w.listeners {
		listeners = append(listeners, l)
	}
	w.mu.Unlock()
	// Visible is the program's, and so are the links that a message takes.
	for _, state := range sessions {
		w.s.fenced(func() { w.tellSession(state, &p) })
	}
	for _, l := range listeners {
		w.s.fenced(func() { w.tellListener(l, &p) })
	}
}

// noticeOf are the notifications of the kinds; resources and their templates
// have one in common.
var noticeOf = [...]struct {
	method string
	kinds  [2]Kind
}{
	{mcp.NotifyToolsChanged, [2]Kind{KindTool}},
	{mcp.NotifyPromptsChanged, [2]Kind{KindPrompt}},
	{mcp.NotifyResourcesChanged, [2]Kind{KindResource, KindTemplate}},
}

// concerns reports whether a caller may see one of the changes of a kind.
func (w *watchers) concerns(p *changes, kinds [2]Kind, who Caller) bool {
	for _, c := range p.items {
		if (c.kind == kinds[0] || c.kind == kinds[1]) && w.s.sees(who, c.kind, c.name, c.own) {
			return true
		}
	}
	return p.all[kinds[0]] || p.all[kinds[1]]
}

func (w *watchers) tellSession(state *sessionState, p *changes) {
	who := state.caller()
	for _, n := range noticeOf {
		if state.told.has(n.kinds[0]) && w.concerns(p, n.kinds, who) {
			// What cannot be sent is the session's own loss, and counted there.
			_ = state.session.Notify(jsonrpc.EncodeNotification(n.method, nil))
		}
	}
	for uri := range p.uris {
		if state.watches(uri) && w.s.find(who, uri) != nil {
			_ = state.session.Notify(jsonrpc.EncodeNotification(mcp.NotifyResourceUpdated, uriParams(uri)))
		}
	}
}

func (state *sessionState) watches(uri string) bool {
	state.mu.Lock()
	defer state.mu.Unlock()
	_, there := state.uris[uri]
	return there
}

func uriParams(uri string) []byte { return append(strictjson.Quote([]byte(`{"uri":`), uri), '}') }

// ResourceUpdated tells those who subscribed to a resource, in either era, that
// what it holds has changed. It does not wait.
func (s *Server) ResourceUpdated(uri string) { s.watchers.updated(uri) }

// Broadcast sends a notification to all legacy sessions. It does not wait for
// any of them. Listens of 2026-07-28 get only what they asked for (W33.1).
func (s *Server) Broadcast(method string, params any) error {
	var raw []byte
	if params != nil {
		var err error
		if raw, err = encode(params); err != nil {
			return err
		}
		raw = strictjson.OneLine(raw)
	}
	notice := jsonrpc.EncodeNotification(method, raw)
	for _, session := range s.Sessions() {
		_ = session.Notify(notice) // its own loss, as above
	}
	return nil
}
