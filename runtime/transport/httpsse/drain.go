package httpsse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// Drain begins the end: new streams are refused, and the open ones end spread
// over the given time, each once its requests are answered, because here a
// session cannot outlive its stream (P24). It returns at once and works once.
func (s *Server) Drain(spread time.Duration) {
	s.init()
	if s.draining.Swap(true) {
		return
	}
	s.sessions.Stop()
	for _, c := range s.table.all() {
		delay := time.Duration(0)
		if spread > 0 {
			delay = rand.N(spread)
		}
		c.leaveSoon(delay)
	}
}

// leaveSoon ends the stream after delay, when nothing is in flight on it.
func (c *connection) leaveSoon(delay time.Duration) {
	gone := c.r.Context().Done()
	time.AfterFunc(delay, func() {
		select {
		case <-c.talk.Idle():
			c.st.Release(errDrained)
		case <-gone:
		}
	})
}

// lastWords is how long the errors of what was in flight on a session that has
// ended may take to be queued.
const lastWords = 5 * time.Second

// Cut ends everything that is in flight: each request gets an error with the
// reason "draining" (or the *jsonrpc.Error that cause wraps), sessions and
// streams end. It does not wait.
func (s *Server) Cut(cause error) {
	s.init()
	cause = fmt.Errorf("%w: %w", dispatch.ErrShutdown, cause)
	s.draining.Store(true)
	s.sessions.Stop()
	for _, c := range s.table.all() {
		c.talk.Close(hook.EndShutdown, cause)
		go c.end(cause)
	}
}

// end ends the stream when the errors of what was in flight are on it.
func (c *connection) end(cause error) {
	late := time.NewTimer(lastWords)
	defer late.Stop()
	select {
	case <-c.talk.Idle():
	case <-late.C:
	case <-c.r.Context().Done():
	}
	c.st.Release(cause)
}

// Shutdown is Cut, and waits until every HTTP request has been answered or ctx
// ends. It does not close listeners.
func (s *Server) Shutdown(ctx context.Context, cause error) error {
	s.Cut(cause)
	return s.requests.Wait(ctx)
}
