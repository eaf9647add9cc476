package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Session is one legacy session. It outlives the connections it is used over
// and ends with Close or End. All methods may be called concurrently.
type Session struct {
	registry *Registry
	params   Params
	born     time.Time
	ctx      context.Context
	cancel   context.CancelCauseFunc
	value    atomic.Pointer[any]
	owner    atomic.Pointer[any]

	mu      sync.Mutex
	active  int       // requests and streams that are open
	entered bool      // initialize came
	used    bool      // something came after initialize
	seen    time.Time // when active became 0
	timer   *time.Timer
	due     time.Time // of the timer; zero: it does not run
	retired bool
	ended   bool
	onClose func(cause error)
	wire    Sender // of a session that has one connection only
	kept    *keeping
	streams streams
}

// Sender takes one complete message for the client. It does not wait.
type Sender interface {
	Send(raw []byte) error
}

// Key is unique in this process; it is not the wire id.
func (s *Session) Key() string { return s.params.Key }

// Principal owns the session; empty is anonymous.
func (s *Session) Principal() string { return s.params.Principal }

// Profile says what the negotiated revision has.
func (s *Session) Profile() mcp.Profile { return s.params.Profile }

// Revision is the negotiated protocol revision.
func (s *Session) Revision() string { return s.params.Profile.Revision }

// ClientCapabilities is the raw object from initialize; never nil.
func (s *Session) ClientCapabilities() []byte { return s.params.Capabilities }

// ClientInfo is the raw identity from initialize; nil if there was none.
func (s *Session) ClientInfo() []byte { return s.params.ClientInfo }

// Context is cancelled, with the cause, when the session ends.
func (s *Session) Context() context.Context { return s.ctx }

// Value returns what SetValue stored: the state of whoever serves the session.
func (s *Session) Value() any { return loaded(&s.value) }

// SetValue stores v for Value.
func (s *Session) SetValue(v any) { s.value.Store(&v) }

func loaded(p *atomic.Pointer[any]) any {
	if v := p.Load(); v != nil {
		return *v
	}
	return nil
}

// Own attaches the layer above, once, before the session is used.
func (s *Session) Own(owner any, onClose func(cause error)) {
	s.owner.Store(&owner)
	s.mu.Lock()
	s.onClose = onClose
	s.mu.Unlock()
}

// Bind ties the session to the one connection that it lives on (stdio, memory,
// HTTP+SSE): what belongs to no request goes there, and it counts as listening.
// Once, before the session is used.
func (s *Session) Bind(wire Sender) {
	s.mu.Lock()
	s.wire = wire
	s.mu.Unlock()
}

// Owner returns what Own attached.
func (s *Session) Owner() any { return loaded(&s.owner) }

// Enter marks the session as in use until Leave. It reports false when the
// session has ended or is retired.
func (s *Session) Enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.retired {
		return false
	}
	// The first Enter is initialize's own. The next may come before that one's
	// Leave: a client is quick with its second message.
	s.used = s.entered
	s.entered = true
	s.active++
	return true
}

// Leave ends one Enter. When nothing is open any more the idle clock runs.
func (s *Session) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.active > 0 || s.ended {
		return
	}
	s.seen = time.Now()
	s.prolong(s.seen)
	s.watch(s.seen, s.patience())
}

// watch has the clock go off in d from now; s.mu is held. One that goes off
// before that is left alone: it finds out that it was too early.
func (s *Session) watch(now time.Time, d time.Duration) {
	due := now.Add(d)
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(d, s.expire)
	case s.due.IsZero() || due.Before(s.due):
		s.timer.Reset(d)
	default:
		return
	}
	s.due = due
}

func (s *Session) patience() time.Duration {
	if s.used {
		return s.registry.idle()
	}
	return s.registry.handshake()
}

// expire ends the session if it has really been idle; otherwise the clock runs
// again when it is next left.
func (s *Session) expire() {
	s.mu.Lock()
	s.due = time.Time{}
	now := time.Now()
	left := s.patience() - now.Sub(s.seen)
	switch {
	case s.ended || s.active > 0:
		s.mu.Unlock()
		return
	case left > 0:
		s.watch(now, left)
		s.mu.Unlock()
		return
	}
	used := s.used
	s.mu.Unlock()
	if used {
		s.End(hook.EndIdle, ErrIdle)
		return
	}
	s.End(hook.EndHandshake, ErrHandshake)
}

// Retire takes the session out of use: it is no longer found and nothing new
// begins on it, but what has begun goes on until End. It reports false when that
// was so before.
func (s *Session) Retire() bool {
	s.mu.Lock()
	before := s.ended || s.retired
	s.retired = true
	s.mu.Unlock()
	s.registry.remove(s)
	return !before
}

// Close ends the session on behalf of the server behind it.
func (s *Session) Close(cause error) { s.End(hook.EndServer, cause) }

// End ends the session: it is no longer found, its context is cancelled with
// cause (which its requests take as their end), its standalone streams end,
// and the owner is told once. It does not wait for anything. Idempotent.
func (s *Session) End(reason hook.EndReason, cause error) {
	if cause == nil {
		cause = errUnknownCause
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
	drop, answers := s.streams.end()
	onClose := s.onClose
	s.mu.Unlock()

	s.registry.remove(s)
	s.cancel(cause)
	s.release(reason)
	for _, st := range drop {
		st.DropWith(cause)
	}
	for _, st := range answers {
		st.Final()
	}
	s.registry.Observer.CloseSession(s.label(), hook.SessionEnd{Reason: reason, Duration: time.Since(s.born)})
	if onClose != nil {
		onClose(cause)
	}
}

func (s *Session) label() hook.Session {
	return hook.Session{Revision: s.Revision(), Binding: s.registry.Binding}
}
