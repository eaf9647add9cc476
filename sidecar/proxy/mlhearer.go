package proxy

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const (
	// linger is how long a resource stays subscribed that nobody listens to
	// (B10.2).
	linger = 5 * time.Second
	// subscribeTime bounds one subscription at the workload.
	subscribeTime = 30 * time.Second
	// maxEarly bounds what is kept for a listener before its acknowledgement.
	maxEarly = 256
)

// hearer is one subscriptions/listen in flight on a leg.
type hearer struct {
	p  *Proxy
	x  *dispatch.Exchange
	id []byte

	mu       sync.Mutex
	kinds    map[string]bool // methods
	uris     []string
	honoured []byte // the filter as it was acknowledged; nil before
	early    [][]byte
}

// hears reports whether a change concerns it: a resource that it named, or a
// part of one (W26.8).
func (h *hearer) hears(method, uri string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if method != mcp.NotifyResourceUpdated {
		return h.kinds[method]
	}
	for _, u := range h.uris {
		if uri == u || strings.HasPrefix(uri, strings.TrimSuffix(u, "/")+"/") {
			return true
		}
	}
	return false
}

// tell sends a notification under the name of the subscription (W33.5), after
// the acknowledgement and never before (W33.3).
func (h *hearer) tell(raw []byte) {
	named, err := strictjson.Splice(raw, strictjson.Set(h.id, "params", "_meta", mcp.MetaSubscriptionID))
	if err != nil {
		h.p.lossy(LossyNotification)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.honoured == nil && len(h.early) < maxEarly {
		h.early = append(h.early, named)
		return
	}
	if h.honoured == nil || h.x.Notify(named) != nil {
		h.p.lossy(LossyNotification)
	}
}

// acknowledge says what is honoured, and then what came meanwhile. The error is
// that nothing can be sent.
func (h *hearer) acknowledge(honoured []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := append([]byte(`{"jsonrpc":"2.0","method":"`+mcp.NotifyAcknowledged+`","params":{"notifications":`), honoured...)
	b = append(append(append(b, `,"_meta":{"`+mcp.MetaSubscriptionID+`":`...), h.id...), "}}}"...)
	if err := h.x.Notify(b); err != nil {
		return err
	}
	h.honoured = honoured
	for _, raw := range h.early {
		if h.x.Notify(raw) != nil {
			h.p.lossy(LossyNotification)
		}
	}
	h.early = nil
	return nil
}

// hearers are the listeners of one leg, with what is subscribed for them. The
// zero value is ready.
type hearers struct {
	mu   sync.Mutex
	all  map[*hearer]struct{}
	subs map[string]*subscription // by URI
}

// subscription is a resource that the workload was asked to watch, once for
// all (B10.2).
type subscription struct {
	turn chan struct{} // cap 1: held while the workload is asked
	live bool          // guarded by turn
	// Guarded by hearers.mu.
	refs  int
	later *time.Timer
}

func (s *hearers) join(h *hearer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*hearer]struct{}{}
	}
	s.all[h] = struct{}{}
}

func (s *hearers) leave(h *hearer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, h)
}

func (s *hearers) list() []*hearer {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*hearer, 0, len(s.all))
	for h := range s.all {
		out = append(out, h)
	}
	return out
}

// changed spreads a notification of the workload (B10.4).
func (s *hearers) changed(m *jsonrpc.Message) {
	all := s.list()
	if len(all) == 0 {
		return
	}
	raw := unforged(m)
	if raw == nil {
		return
	}
	value, _ := strictjson.Get(m.Params, "uri")
	uri, _ := strictjson.String(value)
	for _, h := range all {
		if h.hears(m.Method, uri) {
			h.tell(raw)
		}
	}
}

// missed tells everybody that anything may have changed (B10.7).
func (s *hearers) missed() {
	for _, h := range s.list() {
		h.missed()
	}
}

func (h *hearer) missed() {
	h.mu.Lock()
	honoured := h.honoured
	h.mu.Unlock()
	if honoured == nil {
		return
	}
	for _, raw := range missed(honoured) {
		h.tell(raw)
	}
}

// subscribe has the workload watch a resource for one more listener. The error
// is its refusal, or why it could not be asked.
func (s *hearers) subscribe(ctx context.Context, leg upstream.Leg, uri string) error {
	s.mu.Lock()
	sub := s.subs[uri]
	if sub == nil {
		if s.subs == nil {
			s.subs = map[string]*subscription{}
		}
		sub = &subscription{turn: make(chan struct{}, 1)}
		s.subs[uri] = sub
	}
	sub.refs++
	if sub.later != nil {
		sub.later.Stop()
		sub.later = nil
	}
	s.mu.Unlock()
	err := sub.ask(ctx, leg, mcp.MethodSubscribe, uri, true)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if sub.refs--; sub.refs == 0 && s.subs[uri] == sub {
			delete(s.subs, uri)
		}
	}
	return err
}

// unsubscribe gives one listener's share back. The last one's ends after a
// while: somebody may come back for it.
func (s *hearers) unsubscribe(leg upstream.Leg, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.subs[uri]
	if sub == nil {
		return
	}
	if sub.refs--; sub.refs > 0 {
		return
	}
	if leg.Err() != nil {
		delete(s.subs, uri)
		return
	}
	sub.later = time.AfterFunc(linger, func() {
		s.mu.Lock()
		over := sub.refs == 0 && s.subs[uri] == sub
		if over {
			delete(s.subs, uri)
		}
		s.mu.Unlock()
		if over {
			_ = sub.ask(context.Background(), leg, mcp.MethodUnsubscribe, uri, false)
		}
	})
}

// ask makes the subscription live or not, if it is otherwise.
func (sub *subscription) ask(ctx context.Context, leg upstream.Leg, method, uri string, live bool) error {
	ctx, stop := context.WithTimeout(ctx, subscribeTime)
	defer stop()
	select {
	case sub.turn <- struct{}{}:
		defer func() { <-sub.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if sub.live == live {
		return nil
	}
	answer, err := leg.Call(ctx, peer.Request{Method: method, Params: append(strictjson.Quote([]byte(`{"uri":`), uri), '}')})
	switch {
	case err != nil:
		return err
	case answer.Err != nil:
		return answer.Err
	}
	sub.live = live
	return nil
}
