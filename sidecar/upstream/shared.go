package upstream

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Shared is the Handler of a leg that requests of a key share. Until its user
// puts a Handler in charge, it does as ByCall does. The zero value is ready;
// all methods may be called concurrently.
type Shared struct {
	mu      sync.Mutex
	handler peer.Handler
	renewed func()
	ended   func()
	over    bool
}

// Use puts a Handler in charge of the leg, once: made is asked for one unless
// there is one already. It returns the one that is in charge.
func (s *Shared) Use(made func() peer.Handler) peer.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handler == nil {
		s.handler = made()
	}
	return s.handler
}

// OnRenewed sets what is told that the workload forgot the leg's session and
// was initialized anew: what it sent in between is lost (B10.7). It must not
// block.
func (s *Shared) OnRenewed(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = f
}

// Renewed tells so.
func (s *Shared) Renewed() {
	s.mu.Lock()
	f := s.renewed
	s.mu.Unlock()
	if f != nil {
		f()
	}
}

// OnEnded sets what is told that the leg has ended, at once if it already has. It
// must not block.
func (s *Shared) OnEnded(f func()) {
	s.mu.Lock()
	over := s.over
	s.ended = f
	s.mu.Unlock()
	if over {
		f()
	}
}

// End tells so, once.
func (s *Shared) End() {
	s.mu.Lock()
	f, first := s.ended, !s.over
	s.over = true
	s.mu.Unlock()
	if first && f != nil {
		f()
	}
}

func (s *Shared) inCharge() peer.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handler == nil {
		return ByCall{}
	}
	return s.handler
}

// Request implements peer.Handler.
func (s *Shared) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	return s.inCharge().Request(ctx, in)
}

// Notification implements peer.Handler.
func (s *Shared) Notification(in peer.Incoming) { s.inCharge().Notification(in) }
