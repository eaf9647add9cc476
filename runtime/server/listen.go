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

// listener is one subscriptions/listen in flight.
//
// Nothing of it goes out before its ack (W33.3), which may take a while: the
// tasks that it asks for are looked up in a store. What changes meanwhile is
// kept, once a list and once a resource, so that whoever tells of changes waits
// for no listener.
type listener struct {
	x    *dispatch.Exchange
	who  Caller
	told told
	uris map[string]struct{}
	// meta is the member that every message carries (W33.5).
	meta []byte
	// end is closed when the server ends the listen.
	end chan struct{}
	// ready is closed when the ack is on its way, or will never be.
	ready chan struct{}

	mu    sync.Mutex
	acked bool
	early map[notice]struct{}
}

// notice is a notification of a change, of a list or of one resource.
type notice struct{ method, uri string }

// errUnheard is a notification of a listen that came to nothing.
var errUnheard = errors.New("the listen was not acknowledged")

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
	l := &listener{x: x, who: callerOf(x), end: make(chan struct{}), ready: make(chan struct{}), uris: map[string]struct{}{}}
	l.meta = append(append(strictjson.Quote([]byte(`{`), mcp.MetaSubscriptionID), ':'), x.ID().String()+"}"...)
	honoured, bad := s.honour(l, p.Notifications)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	if bad := s.watchers.join(l); bad != nil {
		return dispatch.Fail(bad)
	}
	defer s.watchers.leave(l)
	for uri := range l.uris {
		s.interest.add(uri)
	}
	defer s.interest.remove(l.uris)
	if len(p.Notifications.Tasks) > 0 {
		var stop func()
		if honoured.Tasks, stop, bad = s.listenTasks(ctx, x, p.Notifications.Tasks, l.send); bad != nil {
			return dispatch.Fail(bad)
		}
		defer stop()
	}
	if !broken.Rule("W33.3") {
		bad = l.ack(honoured)
	}
	l.begin(bad == nil)
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

// ack is the first message of a listen (W33.3).
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

// begin lets out what was kept for after the ack, and whoever waits for it.
func (l *listener) begin(acked bool) {
	l.mu.Lock()
	early := l.early
	l.acked, l.early = acked, nil
	l.mu.Unlock()
	close(l.ready)
	if acked {
		for n := range early {
			_ = l.notify(n.method, n.params())
		}
	}
}

// send sends a notification of the listen once it is acknowledged, waiting for
// that.
func (l *listener) send(method string, params []byte) error {
	<-l.ready
	l.mu.Lock()
	acked := l.acked
	l.mu.Unlock()
	if !acked {
		return errUnheard
	}
	return l.notify(method, params)
}

// tell is send for those who cannot wait. What the client does not read is its
// own loss: the front ends a listen that does not.
func (l *listener) tell(n notice) {
	l.mu.Lock()
	acked := l.acked
	if !acked {
		if l.early == nil {
			l.early = map[notice]struct{}{}
		}
		l.early[n] = struct{}{}
	}
	l.mu.Unlock()
	if acked {
		_ = l.notify(n.method, n.params())
	}
}

func (n notice) params() []byte {
	if n.uri == "" {
		return []byte(`{}`)
	}
	return uriParams(n.uri)
}

func (l *listener) notify(method string, params []byte) error {
	raw, err := strictjson.Splice(params, strictjson.Set([]byte(l.x.ID().String()), "_meta", mcp.MetaSubscriptionID))
	if err != nil {
		return err
	}
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
	for _, n := range noticeOf {
		if l.told.has(n.kinds[0]) && w.concerns(p, n.kinds, l.who) {
			l.tell(notice{method: n.method})
		}
	}
	for uri := range p.uris {
		if _, watched := l.uris[uri]; watched && w.s.find(l.who, uri) != nil {
			l.tell(notice{mcp.NotifyResourceUpdated, uri})
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
