package stdio

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Refusal is the closed set of what is kept from clients of a shared process.
type Refusal string

// The refusals.
const (
	RefusedRequest      Refusal = "shared_request"      // of the workload, that is nobody's
	RefusedLog          Refusal = "shared_log"          // a log message that is nobody's
	RefusedNotification Refusal = "shared_notification" // another notification that is nobody's
	RefusedNews         Refusal = "shared_news"         // of a client, which concerns only itself
)

// settleTime is for how long a request that its client has given up may still
// make the process talk about it. Until then nobody can say whose a message is
// that names no request (B6.1), so no client gets it.
const settleTime = 5 * time.Minute

// hub is the shared process as everybody uses it (R23): the Handler of what
// the process sends, and the register of who is to get it. Requests of members
// and of clients without sessions have their ids and tokens from the process's
// peer; what is left for the hub is what names no request.
//
// Locks: Pool.mu before hub.mu; nothing is called with hub.mu held.
type hub struct {
	pool *Pool
	// shared is in charge of what belongs to clients without sessions.
	shared upstream.Shared
	// guests is the leg of those clients, all together.
	guests *member

	turn   chan struct{} // cap 1: held while a subscription comes or goes
	counts sync.Mutex
	subs   map[string]*subscription

	mu        sync.Mutex
	members   map[*member]struct{}
	calls     map[any]*member // by Request.Value, comparable
	most      string          // the most verbose level that anybody wants
	met       bool            // a process has been there before
	abandoned time.Time
}

// subscription is one URI, raw, and how many want it.
type subscription struct {
	params []byte
	wanted int
}

var _ peer.Handler = (*hub)(nil)

func newHub(p *Pool) *hub {
	h := &hub{
		pool:    p,
		turn:    make(chan struct{}, 1),
		members: map[*member]struct{}{},
		calls:   map[any]*member{},
		subs:    map[string]*subscription{},
	}
	h.guests = h.seat(nil)
	return h
}

// capabilities are what the process is told of its client: nothing but roots,
// if there are any (R23).
func (h *hub) capabilities() string {
	if len(h.pool.cfg.Roots) == 0 {
		return "{}"
	}
	return `{"roots":{}}`
}

// call makes a request on the process, starting it if there is none. What
// certainly did not reach one that has ended goes to the next.
func (h *hub) call(ctx context.Context, m *member, r peer.Request) (peer.Answer, error) {
	for again := true; ; again = false {
		answer, delivered, err := h.once(ctx, m, r)
		if err == nil || delivered || !again || ctx.Err() != nil || peer.ReasonOf(err) == "" {
			return answer, err
		}
	}
}

func (h *hub) once(ctx context.Context, m *member, r peer.Request) (a peer.Answer, delivered bool, err error) {
	lease, err := h.pool.instance(ctx, upstream.Key{}, h.pool.cfg.Hold, h.pool.cfg.Startup)
	if err != nil {
		return a, true, err
	}
	defer lease.Release()
	if r.Value != nil {
		h.mu.Lock()
		h.calls[r.Value] = m
		h.mu.Unlock()
		defer func() {
			h.mu.Lock()
			delete(h.calls, r.Value)
			h.mu.Unlock()
		}()
	}
	told := r.GivenUp
	r.GivenUp = func() {
		h.mu.Lock()
		h.abandoned = time.Now()
		h.mu.Unlock()
		if told != nil {
			told()
		}
	}
	a, err = lease.Leg.Call(ctx, r)
	return a, !undelivered(err), err
}

// trusted reports whether the only request in flight is the only one that the
// process can be talking about.
func (h *hub) trusted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.abandoned.IsZero() || time.Since(h.abandoned) > settleTime
}

// owner is the member whose call it is; sessionless says that it belongs to a
// client without a session.
func (h *hub) owner(in peer.Incoming) (m *member, sessionless bool) {
	if in.Call == nil || in.Call.Value() == nil {
		return nil, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m = h.calls[in.Call.Value()]
	return m, m == h.guests
}

// Request implements peer.Handler. The process was told that there is nobody
// to ask, but for roots; if it asks all the same, only the client can be asked
// whose call it certainly belongs to (B6.2).
func (h *hub) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	if in.Msg.Method == mcp.MethodRootsList && len(h.pool.cfg.Roots) > 0 {
		return rootsResult(h.pool.cfg.Roots), nil
	}
	m, sessionless := h.owner(in)
	switch {
	case m == nil || !h.trusted():
		h.refused(RefusedRequest)
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no client can be asked here")
	case sessionless:
		return h.shared.Request(ctx, in)
	}
	return m.handler.Request(ctx, in)
}

// Notification implements peer.Handler: progress goes to its request, log
// messages to the request that they certainly belong to, changes to everybody
// whom they concern.
func (h *hub) Notification(in peer.Incoming) {
	m, sessionless := h.owner(in)
	switch method := in.Msg.Method; {
	case method == mcp.NotifyMessage && (m == nil || !h.trusted()):
		h.refused(RefusedLog)
	case sessionless:
		h.shared.Notification(in)
	case m != nil && method == mcp.NotifyMessage && !m.wants(in.Msg):
		// Somebody else asked for it (B11.3).
	case m != nil:
		m.handler.Notification(in)
	case changes(method):
		h.tell(in)
	default:
		h.refused(RefusedNotification)
	}
}

// changes lists the notifications that are for whoever listens.
func changes(method string) bool {
	switch method {
	case mcp.NotifyToolsChanged, mcp.NotifyPromptsChanged, mcp.NotifyResourcesChanged, mcp.NotifyResourceUpdated:
		return true
	}
	return false
}

// tell gives a change to all members, that of a resource to those who have
// subscribed to it (B10.4).
func (h *hub) tell(in peer.Incoming) {
	uri := ""
	if in.Msg.Method == mcp.NotifyResourceUpdated {
		raw, _ := strictjson.Get(in.Msg.Params, "uri")
		uri, _ = strictjson.String(raw)
	}
	h.mu.Lock()
	var to []*member
	for m := range h.members {
		if in.Msg.Method != mcp.NotifyResourceUpdated || m.follows(uri) {
			to = append(to, m)
		}
	}
	h.mu.Unlock()
	for _, m := range to {
		m.handler.Notification(in)
	}
	h.shared.Notification(in)
}

// listening reports whether a client of the process waits for what it may say
// by itself; it is then not idle (P15). Pool.mu is held.
func (h *hub) listening() bool {
	h.mu.Lock()
	var ask []func() bool
	for m := range h.members {
		if m.listening != nil {
			ask = append(ask, m.listening)
		}
	}
	h.mu.Unlock()
	for _, f := range ask {
		if f() {
			return true
		}
	}
	return false
}

// adopted brings a new process to where the last one was, before anybody uses
// it: the level, the subscriptions (B3.8). after is what to do once it is in
// use.
func (h *hub) adopted(ctx context.Context, proc *process) (after func()) {
	h.mu.Lock()
	again, level := h.met, h.most
	h.met = true // what the last process said may still be on its way: abandoned stands
	h.mu.Unlock()
	if !again {
		return func() {}
	}
	uris, requests := h.wanted()
	if level != "" {
		_ = proc.level.Raise(ctx, proc, level)
	}
	for _, r := range requests {
		if _, err := proc.Call(ctx, r); err != nil {
			break // it ended, or takes too long: the next one is told
		}
	}
	if told := h.pool.cfg.Hooks.Recreated; told != nil {
		told(proc.Err())
	}
	return func() {
		for _, m := range upstream.Missed(proc.init.Capabilities, uris) {
			h.tell(peer.Incoming{Msg: m})
		}
		h.shared.Renewed()
	}
}

// lost is called when the process has ended by itself: somebody who listens
// would wait for ever for the next one to be started by a request (B3.8).
func (h *hub) lost() {
	h.mu.Lock()
	alone := len(h.members) == 0
	h.mu.Unlock()
	h.counts.Lock()
	alone = alone && len(h.subs) == 0
	h.counts.Unlock()
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if alone || p.closed {
		return
	}
	p.gone.Go(func() {
		if lease, err := p.instance(p.ctx, upstream.Key{}, p.cfg.Hold, p.cfg.Startup); err == nil {
			lease.Release()
		}
	})
}

// shutdown ends the members' legs, that of the guests too.
func (h *hub) shutdown() {
	h.mu.Lock()
	all := slices.Collect(maps.Keys(h.members))
	h.mu.Unlock()
	for _, m := range append(all, h.guests) {
		m.end(upstream.ErrClosed, true)
	}
	h.shared.End()
}

func (h *hub) refused(what Refusal) {
	if told := h.pool.cfg.Hooks.Refused; told != nil {
		told(what)
	}
}

// rootsResult answers roots/list from configuration.
func rootsResult(roots []Root) []byte {
	b := []byte(`{"roots":[`)
	for i, r := range roots {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.Quote(append(b, `{"uri":`...), r.URI)
		if r.Name != "" {
			b = strictjson.Quote(append(b, `,"name":`...), r.Name)
		}
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// within reports whether a resource is the one subscribed to or below it
// (W26.8).
func within(uri, subscribed string) bool {
	rest, below := strings.CutPrefix(uri, subscribed)
	return below && (rest == "" || strings.HasSuffix(subscribed, "/") || strings.HasPrefix(rest, "/"))
}
