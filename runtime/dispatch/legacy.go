package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Legacy is a session with what is in flight on it, both ways. It is the
// Session that a Server sees. Make it with Dispatcher.Adopt.
type Legacy struct {
	*session.Session
	d *Dispatcher

	ready    atomic.Bool  // the client has come back after initialize; changed under mu
	active   atomic.Int64 // requests of the client that are not delivered yet
	retiring atomic.Bool  // whoever is delivered last looks for retired

	mu      sync.Mutex
	runs    []*Run             // the client's requests, few at a time
	pending map[string]pending // ours, by id text
	opened  bool
	early   *early      // nil: nothing waits until the client is ready
	retired *time.Timer // nil: it is not; else what cuts off the rest
	cause   error       // of Retire
	closed  error
}

var _ Session = (*Legacy)(nil)

// Adopt makes the Legacy of a new session and becomes its owner.
func (d *Dispatcher) Adopt(s *session.Session) *Legacy {
	l := &Legacy{Session: s, d: d}
	s.Own(l, l.onClose)
	return l
}

// Open is the Handler of initialize: Server.Open, with the negotiated revision
// put into the result (B4.11). A session that ended meanwhile is closed
// towards the Server.
func (l *Legacy) Open(ctx context.Context, x *Exchange) Outcome {
	o := l.d.Server.Open(ctx, x, l)
	if o.Err != nil {
		return o
	}
	l.mu.Lock()
	l.opened = true
	closed := l.closed
	l.mu.Unlock()
	if closed != nil {
		l.d.closed(l, closed)
		return Fail(Explain(closed))
	}
	return l.negotiated(o)
}

func (l *Legacy) negotiated(o Outcome) Outcome {
	want := strictjson.Quote(nil, l.Revision())
	have, _ := strictjson.Get(o.Result, "protocolVersion")
	if string(have) == string(want) {
		return o
	}
	result, err := strictjson.Splice(o.Result, strictjson.Set(want, "protocolVersion"))
	if err != nil {
		return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the server's answer to initialize is no object"))
	}
	return Result(result)
}

func (l *Legacy) onClose(cause error) {
	l.mu.Lock()
	l.closed = cause
	if l.early != nil {
		l.early.held.Take()
	}
	opened := l.opened
	if l.retired != nil {
		l.retired.Stop()
	}
	for _, r := range l.runs {
		r.cancel(cause)
	}
	l.mu.Unlock()
	if opened {
		l.d.closed(l, cause)
	}
}

// begin enters a request; false when its id is in flight already.
func (l *Legacy) begin(r *Run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run(r.id) >= 0 {
		return false
	}
	l.runs = append(l.runs, r)
	l.active.Add(1)
	r.counted = true
	if l.closed != nil {
		r.cancel(l.closed) // there is nobody left who would
	}
	return true
}

func (l *Legacy) finish(r *Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.runs, r); i >= 0 {
		l.runs = slices.Delete(l.runs, i, i+1)
	}
	if len(l.runs) == 0 {
		l.runs = nil
	}
}

// run finds the request with an id, or -1; l.mu is held.
func (l *Legacy) run(id jsonrpc.ID) int {
	return slices.IndexFunc(l.runs, func(r *Run) bool { return r.id == id })
}

// retireTime is how long requests that nobody serves any more may take to find
// that out.
const retireTime = 5 * time.Second

// Retire implements Session.
func (l *Legacy) Retire(cause error) {
	if !l.Session.Retire() {
		return
	}
	l.retiring.Store(true)
	l.mu.Lock()
	over := l.active.Load() == 0
	if !over {
		l.cause = cause
		l.retired = time.AfterFunc(retireTime, func() { l.Close(cause) })
	}
	l.mu.Unlock()
	if over {
		l.Close(cause)
	}
}

// delivered notes that a request is over for its client too.
func (l *Legacy) delivered(r *Run) {
	if !r.counted || l.active.Add(-1) > 0 || !l.retiring.Load() {
		return
	}
	l.mu.Lock()
	over, cause := l.retired != nil, l.cause
	l.mu.Unlock()
	if over {
		l.Close(cause)
	}
}

// Receive takes a notification or a response of the client, sent as who says:
// consumes what the front consumes and hands on the rest. It returns when that
// is done.
func (l *Legacy) Receive(m *jsonrpc.Message, who *auth.Identity) {
	l.Ready()
	req := l.request(m)
	req.Identity = who
	var parent jsonrpc.ID
	method := m.Method
	if m.Kind == jsonrpc.KindResponse {
		p := l.waiting(m.ID)
		method, parent = p.method, p.parent
	}
	l.d.inbound(l.Context(), &req, method, parent, l.take)
}

// Take takes a notification that came without a session through the receive
// stack to then, which may be nil where it means nothing (B2.5).
func (d *Dispatcher) Take(ctx context.Context, r Request, then func(*jsonrpc.Message)) {
	if then == nil {
		then = func(*jsonrpc.Message) {}
	}
	d.inbound(ctx, &r, r.Msg.Method, jsonrpc.ID{}, then)
}

// request is the session's side of a message that is no request of the client.
func (l *Legacy) request(m *jsonrpc.Message) Request {
	return Request{Msg: m, Profile: l.Profile(), Session: l, Principal: l.Principal()}
}

func (l *Legacy) take(m *jsonrpc.Message) {
	if m.Kind == jsonrpc.KindResponse {
		l.resolve(m)
		return
	}
	switch m.Method {
	case mcp.NotifyInitialized: // R9
	case mcp.NotifyCancelled:
		l.cancel(m)
	default:
		var o Outcome
		defer l.d.guard(&o)
		l.d.Server.Notify(l.Context(), l, m)
	}
}

// cancel serves notifications/cancelled; whatever does not fit is ignored
// (W19.3).
func (l *Legacy) cancel(m *jsonrpc.Message) {
	raw, _ := strictjson.Get(m.Params, "requestId")
	id, ok := jsonrpc.ParseID(raw)
	if !ok {
		return
	}
	l.mu.Lock()
	var run *Run
	if i := l.run(id); i >= 0 {
		run = l.runs[i]
	}
	l.mu.Unlock()
	if run == nil {
		return
	}
	cause := ErrCancelled
	if reason := stringParam(m.Params, "reason"); reason != "" {
		cause = fmt.Errorf("%w: %.200q", ErrCancelled, reason) // W19.10
	}
	run.Cancel(cause)
}

// Notify implements Session.
func (l *Legacy) Notify(raw []byte) error {
	req := l.request(nil)
	return l.d.notify(l.Context(), &req, jsonrpc.ID{}, raw, func(raw []byte) error {
		return l.push(strictjson.OneLine(raw))
	})
}
