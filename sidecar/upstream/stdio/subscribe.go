package stdio

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const (
	// maxURIs bounds the subscriptions of all members together.
	maxURIs = 8 << 10
	// leaveTime bounds what is said to the process for a member that is gone.
	leaveTime = 5 * time.Second
)

// subscribe asks the process for what nobody else has asked for (B10.2).
func (m *member) subscribe(ctx context.Context, r peer.Request) (peer.Answer, error) {
	raw, _ := strictjson.Get(r.Params, "uri")
	text, ok := strictjson.String(raw)
	if !ok {
		return m.hub.call(ctx, m, r) // the workload words it
	}
	h, uri := m.hub, string(raw)
	if err := h.enter(ctx); err != nil {
		return peer.Answer{}, err
	}
	defer h.exit()
	m.mu.Lock()
	_, has := m.uris[uri]
	full := len(m.uris) >= upstream.MaxSubscriptions
	m.mu.Unlock()
	known, room := h.knows(uri)
	switch {
	case has:
		return done, nil
	case full || !known && !room:
		return peer.Answer{Err: jsonrpc.Errorf(jsonrpc.CodeInternal, "too many subscriptions").WithReason(string(peer.Busy))}, nil
	case !known:
		if answer, err := h.call(ctx, m, r); err != nil || answer.Err != nil {
			return answer, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return peer.Answer{}, m.err
	}
	m.uris[uri] = text
	h.grow(uri, r.Params)
	return done, nil
}

// unsubscribe tells the process when nobody is left who wants it.
func (m *member) unsubscribe(ctx context.Context, r peer.Request) (peer.Answer, error) {
	if err := m.hub.enter(ctx); err != nil {
		return peer.Answer{}, err
	}
	defer m.hub.exit()
	raw, _ := strictjson.Get(r.Params, "uri")
	uri := string(raw)
	m.mu.Lock()
	_, has := m.uris[uri]
	delete(m.uris, uri)
	m.mu.Unlock()
	if has && m.hub.shrink(uri) {
		return m.hub.call(ctx, m, r)
	}
	return done, nil
}

func (h *hub) enter(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *hub) exit() { <-h.turn }

// knows reports whether somebody has subscribed to a resource, and whether
// there is room for another.
func (h *hub) knows(uri string) (known, room bool) {
	h.counts.Lock()
	defer h.counts.Unlock()
	return h.subs[uri] != nil, len(h.subs) < maxURIs
}

// grow counts one more who wants a resource.
func (h *hub) grow(uri string, params []byte) {
	h.counts.Lock()
	defer h.counts.Unlock()
	s := h.subs[uri]
	if s == nil {
		s = &subscription{params: params}
		h.subs[uri] = s
	}
	s.wanted++
}

// shrink counts one less, and reports whether that was the last.
func (h *hub) shrink(uri string) (last bool) {
	h.counts.Lock()
	defer h.counts.Unlock()
	s := h.subs[uri]
	if s == nil {
		return false
	}
	s.wanted--
	if s.wanted > 0 {
		return false
	}
	delete(h.subs, uri)
	return true
}

// wanted are all subscriptions, in a fixed order, and how to ask for them.
func (h *hub) wanted() (uris []string, requests []peer.Request) {
	h.counts.Lock()
	defer h.counts.Unlock()
	for uri := range h.subs {
		uris = append(uris, uri)
	}
	slices.Sort(uris)
	for _, uri := range uris {
		requests = append(requests, peer.Request{Method: mcp.MethodSubscribe, Params: h.subs[uri].params})
	}
	return uris, requests
}

// leave takes subscriptions back for a member that is gone, in the background
// and without starting a process for it.
func (h *hub) leave(uris map[string]string) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(uris) == 0 || p.closed {
		return
	}
	p.gone.Go(func() {
		if h.enter(p.ctx) != nil {
			return
		}
		defer h.exit()
		ctx, stop := context.WithTimeout(p.ctx, leaveTime)
		defer stop()
		for uri := range uris {
			if proc := p.running(); h.shrink(uri) && proc != nil {
				_, _ = proc.Call(ctx, peer.Request{Method: mcp.MethodUnsubscribe, Params: []byte(`{"uri":` + uri + `}`)})
			}
		}
	})
}

// running is the shared process, nil when there is none at the moment.
func (p *Pool) running() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.instances[upstream.Key{}]
	if in == nil || in.over() {
		return nil
	}
	select {
	case <-in.ready:
		return in.proc
	default:
		return nil
	}
}
