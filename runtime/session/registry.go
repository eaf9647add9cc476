package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// Defaults of a Registry (R20, R22, P3).
const (
	DefaultMax       = 10_000
	DefaultIdle      = time.Hour
	DefaultHandshake = time.Minute
	// MaxStandalone is how many standalone streams a session may have open.
	MaxStandalone = 4
	// MaxQueue and MaxQueueBytes bound what waits for a standalone stream.
	MaxQueue      = 256
	MaxQueueBytes = 1 << 20
	// MaxRetained bounds the streams of one session that have ended and can
	// still be resumed.
	MaxRetained = 32
)

// Errors of New, and the causes with which sessions end by themselves.
var (
	ErrFull         = errors.New("too many sessions")
	ErrPrincipal    = errors.New("too many sessions of this principal")
	ErrStopped      = errors.New("no new sessions")
	ErrExists       = errors.New("session key is in use")
	ErrIdle         = errors.New("the session was idle for too long")
	ErrHandshake    = errors.New("nothing came after initialize")
	ErrTooManyGets  = errors.New("the session has too many streams")
	ErrClosed       = errors.New("the session has ended")
	errUnknownCause = errors.New("ended")
)

// Registry holds the sessions of one endpoint. Zero fields mean defaults; none
// may change once it is in use. All methods may be called concurrently.
type Registry struct {
	// Streams makes the streams of all sessions. Required.
	Streams *stream.Store
	// Max and MaxPerPrincipal bound sessions; 0 per principal means no bound.
	Max, MaxPerPrincipal func() int
	// Idle is how long a session may be idle.
	Idle func() time.Duration
	// Handshake is how long a session may be silent after initialize.
	Handshake time.Duration
	// Store, when not nil, holds the records of sessions for other processes.
	// It is told of sessions that begin, that are in use for long, and that
	// end, but never asked on the path of a request.
	Store Store
	// StoreFailed hears its errors; sessions go on without it.
	StoreFailed func(error)
	// Removed, when not nil, is told the key of a session that is no longer
	// found. It must be quick.
	Removed func(key string)
	// Binding labels observations.
	Binding  string
	Observer *hook.Observer

	mu       sync.Mutex
	sessions map[string]*Session
	owners   map[string]int // principal → sessions
	stopped  bool
}

// Params are what a session is made of.
type Params struct {
	// Key is unique among the sessions of the process.
	Key       string
	Principal string
	Profile   mcp.Profile
	// Capabilities and ClientInfo are raw objects from initialize. They are
	// kept; pass copies that hold nothing else in memory.
	Capabilities []byte
	ClientInfo   []byte
	// Began is when initialize came, if that was elsewhere.
	Began time.Time
}

// New registers a session. Its clock begins to run with the first Leave.
func (r *Registry) New(p Params) (*Session, error) {
	if len(p.Capabilities) == 0 {
		p.Capabilities = []byte(`{}`)
	}
	s := &Session{registry: r, params: p, born: time.Now()}
	if p.Began.IsZero() {
		s.params.Began = s.born
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if err := r.add(s); err != nil {
		s.cancel(err)
		return nil, err
	}
	r.keep(s)
	r.Observer.OpenSession(s.label())
	return s, nil
}

func (r *Registry) add(s *Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := DefaultMax
	if r.Max != nil && r.Max() > 0 {
		limit = r.Max()
	}
	switch {
	case r.stopped:
		return ErrStopped
	case len(r.sessions) >= limit:
		return ErrFull
	case r.sessions[s.params.Key] != nil:
		return ErrExists
	}
	if r.MaxPerPrincipal != nil {
		if most := r.MaxPerPrincipal(); most > 0 && r.owners[s.params.Principal] >= most {
			return ErrPrincipal
		}
	}
	if r.sessions == nil {
		r.sessions, r.owners = map[string]*Session{}, map[string]int{}
	}
	r.sessions[s.params.Key] = s
	r.owners[s.params.Principal]++
	return nil
}

func (r *Registry) remove(s *Session) {
	if r.unlist(s) && r.Removed != nil {
		r.Removed(s.params.Key)
	}
}

func (r *Registry) unlist(s *Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions[s.params.Key] != s {
		return false
	}
	delete(r.sessions, s.params.Key)
	if r.owners[s.params.Principal]--; r.owners[s.params.Principal] == 0 {
		delete(r.owners, s.params.Principal)
	}
	return true
}

// Find returns the session with the key if it belongs to the principal; a
// foreign one is not there (B0.6).
func (r *Registry) Find(key, principal string) (*Session, bool) {
	r.mu.Lock()
	s := r.sessions[key]
	r.mu.Unlock()
	if s == nil || s.params.Principal != principal && !broken.Rule("B0.6") {
		return nil, false
	}
	return s, true
}

// Len returns the number of sessions.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// All returns the sessions of this moment in no order.
func (r *Registry) All() []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		out = append(out, s)
	}
	return out
}

// Stop refuses new sessions from now on.
func (r *Registry) Stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
}

// CloseAll ends every session.
func (r *Registry) CloseAll(reason hook.EndReason, cause error) {
	for _, s := range r.All() {
		s.End(reason, cause)
	}
}

func (r *Registry) idle() time.Duration {
	if r.Idle != nil {
		if d := r.Idle(); d > 0 {
			return d
		}
	}
	return DefaultIdle
}

func (r *Registry) handshake() time.Duration {
	if r.Handshake > 0 {
		return r.Handshake
	}
	return DefaultHandshake
}
