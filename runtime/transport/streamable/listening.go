package streamable

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// listenPatience is how long the head of a listening exchange waits for the
// first word of whoever serves it: an acknowledgement, which makes it a stream,
// or a refusal, which has a status of its own. Then the stream is opened
// whatever comes (P4).
const listenPatience = 100 * time.Millisecond

// listens are the listening exchanges of a Server.
type listens struct {
	mu   sync.Mutex
	runs map[*dispatch.Run]struct{}
}

func (l *listens) add(r *dispatch.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[*dispatch.Run]struct{}{}
	}
	l.runs[r] = struct{}{}
}

func (l *listens) remove(r *dispatch.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, r)
}

func (l *listens) all() (out []*dispatch.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.runs {
		out = append(out, r)
	}
	return out
}

// listen serves the answer of a listening exchange.
func (a *answer) listen() {
	l := &a.s.listens
	l.add(&a.running)
	defer l.remove(&a.running)
	if a.s.draining.Load() {
		a.s.dismissWithin(&a.running, retryMS*time.Millisecond)
	}
	a.serve()
}

// dismissWithin ends a listening exchange at a random moment.
func (s *Server) dismissWithin(r *dispatch.Run, spread time.Duration) {
	if spread <= 0 {
		r.Cancel(dispatch.ErrGoingAway)
		return
	}
	time.AfterFunc(rand.N(spread), func() { r.Cancel(dispatch.ErrGoingAway) })
}

// errNoStream ends a listening exchange that there is no stream for (W33.12).
func errNoStream() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many streams").WithReason(mcp.ReasonBusy)
}
