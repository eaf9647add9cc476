package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// filter is what a listen asks for, and what its ack says it gets (W33.2).
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
	Tasks     []string `json:"taskIds,omitempty"`
}

type listenParams struct {
	Notifications *filter `json:"notifications"`
}

// listener is one subscriptions/listen in flight. Nothing of it goes out before
// its ack (W33.3): the lock is held until that is on its way.
type listener struct {
	x    *dispatch.Exchange
	who  Caller
	told told
	uris map[string]struct{}
	// meta is the member that every message carries (W33.5).
	meta []byte
	// end is closed when the server ends the listen.
	end chan struct{}

	mu sync.Mutex
}

// listen serves subscriptions/listen until the client, the server or the
// caller's token ends it.
func (s *Server) listen(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	if !s.offers(mcp.CapTools) && !s.offers(mcp.CapPrompts) && !s.offers(mcp.CapResources) && !s.hasTasks() {
		return unknownMethod() // there is nothing that could be heard of
	}
	var p listenParams
	if bad := params(x.Msg.Params, &p); bad != nil {
		return dispatch.Fail(bad)
	}
	if p.Notifications == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "notifications must say what to listen to"))
	}
	l := &listener{x: x, who: callerOf(x), end: make(chan struct{}), uris: map[string]struct{}{}}
	l.meta = append(append(strictjson.Quote([]byte(`{`), mcp.MetaSubscriptionID), ':'), x.ID().String()+"}"...)
	honoured, bad := s.honour(l, p.Notifications)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	l.mu.Lock()
	if bad := s.watchers.join(l); bad != nil {
		l.mu.Unlock()
		return dispatch.Fail(bad)
	}
	defer s.watchers.leave(l)
	for uri := range l.uris {
		s.interest.add(uri)
	}
	defer s.interest.remove(l.uris)
	if len(p.Notifications.Tasks) > 0 {
		var stop func()
		honoured.Tasks, stop, bad = s.listenTasks(ctx, x, p.Notifications.Tasks, l.send)
		if stop != nil {
			defer stop()
		}
	}
	if bad == nil && !broken.Rule("W33.3") {
		bad = l.ack(honoured)
	}
	l.mu.Unlock()
	if bad != nil {
		return dispatch.Fail(bad)
	}
	return l.wait(ctx)
}

// honour picks of a filter what the server can do for this caller (W33.4).
func (s *Server) honour(l *listener, want *filter) (*filter, *jsonrpc.Error) {
	out := &filter{
		Tools:     (want.Tools || broken.Rule("W33.1")) && s.offers(mcp.CapTools),
		Prompts:   want.Prompts && s.offers(mcp.CapPrompts),
		Resources: want.Resources && s.offers(mcp.CapResources),
	}
	l.told = told{out.Tools, out.Prompts, out.Resources}
	if !s.offers(mcp.CapSubscribe) {
		return out, nil
	}
	for _, uri := range want.URIs {
		r := s.find(l.who, uri)
		if _, twice := l.uris[uri]; twice || r == nil || !l.who.Identity.Has(r.scopes...) {
			continue
		}
		if len(l.uris) >= s.opt.MaxSubscriptions {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "too many resources in one listen").WithReason(mcp.ReasonBusy)
		}
		l.uris[uri] = struct{}{}
		out.URIs = append(out.URIs, uri)
	}
	return out, nil
}

type ackParams struct {
	Notifications *filter         `json:"notifications"`
	Meta          json.RawMessage `json:"_meta"`
}

// ack is the first message of a listen (W33.3); l.mu is held.
func (l *listener) ack(honoured *filter) *jsonrpc.Error {
	raw, err := encode(ackParams{honoured, l.meta})
	if err == nil {
		err = l.x.Notify(jsonrpc.EncodeNotification(mcp.NotifyAcknowledged, raw))
	}
	if err != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "nothing can be sent on this request").WithReason(mcp.ReasonNoChannel)
	}
	return nil
}

// send sends a notification of the listen, after its ack.
func (l *listener) send(method string, params []byte) error {
	if params == nil {
		params = []byte(`{}`)
	}
	raw, err := strictjson.Splice(params, strictjson.Set([]byte(l.x.ID().String()), "_meta", mcp.MetaSubscriptionID))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.x.Notify(jsonrpc.EncodeNotification(method, strictjson.OneLine(raw)))
}

// wait holds a listen open. When the server ends it, or the caller's token
// does, the client is told by a result (W33.7); when the client did, nobody is.
func (l *listener) wait(ctx context.Context) dispatch.Outcome {
	select {
	case <-l.end:
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if !errors.Is(cause, dispatch.ErrGoingAway) && !errors.Is(cause, dispatch.ErrShutdown) && !errors.Is(cause, auth.ErrExpired) {
			return dispatch.Fail(dispatch.Explain(cause))
		}
	}
	return dispatch.Result(append(append([]byte(`{"resultType":"complete","_meta":`), l.meta...), '}'))
}

func (w *watchers) join(l *listener) *jsonrpc.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the server is shutting down").WithReason(mcp.ReasonDraining)
	}
	if len(w.listeners) >= w.s.opt.MaxListeners {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many subscriptions").WithReason(mcp.ReasonBusy) // W33.12
	}
	w.listeners[l] = struct{}{}
	return nil
}

func (w *watchers) leave(l *listener) {
	w.mu.Lock()
	delete(w.listeners, l)
	w.mu.Unlock()
}

func (w *watchers) tellListener(l *listener, p *changes) {
	var o dispatch.Outcome
	defer w.s.guard(&o)
	for _, n := range noticeOf {
		if l.told.has(n.kinds[0]) && w.concerns(p, n.kinds, l.who) {
			_ = l.send(n.method, nil) // its own loss; the front ends a listen that does not read
		}
	}
	for uri := range p.uris {
		if _, watched := l.uris[uri]; watched && w.s.find(l.who, uri) != nil {
			_ = l.send(mcp.NotifyResourceUpdated, uriParams(uri))
		}
	}
}

// Close ends all listens, each with its result, refuses new ones, and tells of
// no changes any more. Requests in work and sessions are the front's to end.
// Idempotent; it does not wait.
func (s *Server) Close() {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	for l := range w.listeners {
		close(l.end)
	}
}
