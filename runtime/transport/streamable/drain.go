package streamable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// errDrained ends standalone streams of a server that goes away.
var errDrained = errors.New("the server is going away")

// Drain begins the end: every answer says `Connection: close`, initialize is
// refused, and what lasts ends spread over the given time: standalone streams
// each with a fresh id and the time to come back after (P24), listening
// exchanges with their result (W33.7). Requests go on. Call it when
// other servers have taken over new connections. It returns at once and works
// once.
func (s *Server) Drain(spread time.Duration) {
	s.init()
	if s.draining.Swap(true) {
		return
	}
	s.sessions.Stop()
	for _, sess := range s.sessions.All() {
		for _, st := range sess.Standalone() {
			s.releaseWithin(st, spread)
		}
	}
	for _, r := range s.listens.all() {
		s.dismissWithin(r, spread)
	}
	if s.sse != nil {
		s.sse.Drain(spread)
	}
}

// releaseWithin ends the reading of a stream at a random moment.
func (s *Server) releaseWithin(st *stream.Stream, spread time.Duration) {
	if spread <= 0 {
		st.Release(errDrained)
		return
	}
	time.AfterFunc(rand.N(spread), func() { st.Release(errDrained) })
}

// watchDrain ends a standalone stream that was opened while Drain was looking
// for them, or after.
func (s *Server) watchDrain(st *stream.Stream) {
	if s.draining.Load() {
		s.releaseWithin(st, retryMS*time.Millisecond)
	}
}

// Cut ends everything that is in flight: each request gets an error with the
// reason "draining" (or the *jsonrpc.Error that cause wraps), sessions and
// streams end. It does not wait.
func (s *Server) Cut(cause error) {
	s.init()
	cause = fmt.Errorf("%w: %w", dispatch.ErrShutdown, cause)
	s.draining.Store(true)
	s.sessions.Stop()
	s.streams.Leave()
	s.end(cause)
	s.sessions.CloseAll(hook.EndShutdown, cause)
	if s.sse != nil {
		s.sse.Cut(cause)
	}
}

// Shutdown is Cut, and waits until every HTTP request has been answered and
// Events has been told what was sent, or ctx ends. It does not close listeners.
func (s *Server) Shutdown(ctx context.Context, cause error) error {
	s.Cut(cause)
	if err := s.requests.Wait(ctx); err != nil {
		return err
	}
	return s.streams.Kept(ctx)
}
