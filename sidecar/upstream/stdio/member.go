package stdio

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// member is one user's place at the shared process: the Leg of a session, or
// of all clients without one. It outlives the process. Level and
// subscriptions are its own; the process knows their union.
type member struct {
	hub       *hub
	init      *peer.Init
	handler   peer.Handler
	listening func() bool
	told      func(error)

	done chan struct{}

	mu    sync.Mutex // after hub.mu
	level string
	uris  map[string]string // raw URI to its text
	err   error
}

var _ upstream.Leg = (*member)(nil)

// join makes the leg of a session at the shared process.
func (h *hub) join(ctx context.Context, r upstream.SessionRequest) (upstream.Leg, error) {
	lease, err := h.pool.instance(ctx, upstream.Key{}, h.pool.cfg.Hold, h.pool.cfg.Startup)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	m := h.seat(lease.Init())
	m.handler, m.listening, m.told = r.Handler, r.Listening, r.Ended
	if m.handler == nil {
		m.handler = upstream.ByCall{}
	}
	h.mu.Lock()
	h.members[m] = struct{}{}
	h.mu.Unlock()
	if h.pool.ctx.Err() != nil {
		m.end(upstream.ErrClosed, false)
		return nil, upstream.ErrClosed
	}
	return m, nil
}

func (h *hub) seat(in *peer.Init) *member {
	return &member{hub: h, init: in, done: make(chan struct{}), uris: map[string]string{}}
}

// lease is the place of clients without sessions, who are told apart by
// whoever leases it.
func (h *hub) lease(ctx context.Context) (upstream.Lease, error) {
	lease, err := h.pool.instance(ctx, upstream.Key{}, h.pool.cfg.Hold, h.pool.cfg.Startup)
	if err != nil {
		return upstream.Lease{}, err
	}
	return upstream.Lease{Leg: guest{h.guests, lease.Init()}, Shared: &h.shared, Release: lease.Release}, nil
}

// guest is the leg of a lease.
type guest struct {
	*member
	init *peer.Init
}

// Init implements upstream.Leg.
func (g guest) Init() *peer.Init { return g.init }

// Close implements upstream.Leg; the place is everybody's.
func (g guest) Close(error) {}

// Init implements upstream.Leg.
func (m *member) Init() *peer.Init { return m.init }

// Level implements upstream.Leg. Whoever raises it asks the leg, which knows
// better what the process has been told.
func (m *member) Level() *upstream.Level { return &upstream.Level{} }

// Done implements upstream.Leg.
func (m *member) Done() <-chan struct{} { return m.done }

// Err implements upstream.Leg.
func (m *member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Call implements upstream.Leg.
func (m *member) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	if err := m.Err(); err != nil {
		return peer.Answer{}, err
	}
	switch r.Method {
	case mcp.MethodSetLevel:
		return m.setLevel(ctx, r)
	case mcp.MethodSubscribe:
		return m.subscribe(ctx, r)
	case mcp.MethodUnsubscribe:
		return m.unsubscribe(ctx, r)
	}
	return m.hub.call(ctx, m, r)
}

// Notify implements upstream.Leg. What one client says of itself is not for a
// process that serves others too (section 13).
func (m *member) Notify(context.Context, string, []byte) error {
	m.hub.refused(RefusedNews)
	return nil
}

// Close implements upstream.Leg.
func (m *member) Close(cause error) { m.end(cause, false) }

// end gives the place up; tell says that its owner does not know yet.
func (m *member) end(cause error, tell bool) {
	m.mu.Lock()
	if m.err != nil {
		m.mu.Unlock()
		return
	}
	m.err = &peer.Failure{Reason: peer.Closed, Err: cause}
	uris := m.uris
	m.uris = nil
	close(m.done)
	m.mu.Unlock()
	m.hub.mu.Lock()
	delete(m.hub.members, m)
	m.hub.mu.Unlock()
	m.hub.leave(uris)
	if tell && m.told != nil {
		m.told(cause)
	}
}

// setLevel keeps the member's level and has the process log at the most
// verbose one that anybody wants (B11.1, B11.3).
func (m *member) setLevel(ctx context.Context, r peer.Request) (peer.Answer, error) {
	raw, _ := strictjson.Get(r.Params, "level")
	level, _ := strictjson.String(raw)
	if !mcp.LogLevel(level) {
		return m.hub.call(ctx, m, r) // the workload words it
	}
	h := m.hub
	lease, err := h.pool.instance(ctx, upstream.Key{}, h.pool.cfg.Hold, h.pool.cfg.Startup)
	if err != nil {
		return peer.Answer{}, err
	}
	defer lease.Release()
	if err := lease.Level().Raise(ctx, lease.Leg, level); err != nil {
		if refused := new(jsonrpc.Error); errors.As(err, &refused) {
			return peer.Answer{Err: refused}, nil
		}
		return peer.Answer{}, err
	}
	m.mu.Lock()
	m.level = level
	m.mu.Unlock()
	h.mu.Lock()
	if h.most == "" || mcp.LogSeverity(level) < mcp.LogSeverity(h.most) {
		h.most = level
	}
	h.mu.Unlock()
	return done, nil
}

var done = peer.Answer{Result: []byte("{}")}

// wants compares a log message with the member's level. Before it has set one
// the workload may choose (W23.2); on a shared process that is info.
func (m *member) wants(msg *jsonrpc.Message) bool {
	m.mu.Lock()
	least := m.level
	m.mu.Unlock()
	if least == "" {
		least = "info"
	}
	raw, _ := strictjson.Get(msg.Params, "level")
	level, _ := strictjson.String(raw)
	return mcp.LogSeverity(level) >= mcp.LogSeverity(least)
}

// follows reports whether the member has subscribed to a resource; hub.mu is
// held.
func (m *member) follows(uri string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, subscribed := range m.uris {
		if within(uri, subscribed) {
			return true
		}
	}
	return false
}
