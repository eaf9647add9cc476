package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// A listening exchange (mcp.Method.Listening) is a request whose answer is a
// stream that lasts: Serve sends with Exchange.Notify until its context ends. It
// has no deadline, takes no turn from requests that work, and has a bound of its
// own. When the server ends it (drain, shutdown, the end of a token) Serve may
// still return its result, which is then sent (W33.7); when the client did,
// nothing is sent any more.

// DefaultListening is the bound of listening exchanges.
const DefaultListening = 4096

// listenGrace is how long Serve has for the result of a listening exchange that
// the server ends.
const listenGrace = 5 * time.Second

// graceful reports whether a cause leaves a listening exchange time to end well.
func graceful(cause error) bool {
	return errors.Is(cause, ErrGoingAway) || errors.Is(cause, ErrShutdown) || errors.Is(cause, auth.ErrExpired)
}

// listeners counts exchanges of one kind.
type listeners struct {
	mu sync.Mutex
	n  int
	by map[string]int // bucket → exchanges
}

func (l *listeners) enter(most, mostEach int, bucket string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n >= most || mostEach > 0 && l.by[bucket] >= mostEach {
		return false
	}
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.n++
	l.by[bucket]++
	return true
}

func (l *listeners) leave(bucket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n--
	if l.by[bucket]--; l.by[bucket] == 0 {
		delete(l.by, bucket)
	}
}

// listen runs the handler of a listening exchange.
func (r *Run) listen(ctx context.Context) Outcome {
	who := r.x.Bucket()
	if !r.d.listeners.enter(r.d.bounds(who)) {
		r.d.Observer.Reject(hook.RejectListenLimit)
		return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "too many subscriptions").WithReason(mcp.ReasonBusy)) // W33.12
	}
	defer r.d.listeners.leave(who)
	r.d.Observer.Listen(+1)
	defer r.d.Observer.Listen(-1)
	return r.call(ctx)
}

// wait runs the handler of a request that only waits.
func (r *Run) wait(ctx context.Context) Outcome {
	who := r.x.Bucket()
	if !r.d.waiters.enter(r.d.bounds(who)) {
		return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests wait").WithReason(mcp.ReasonBusy))
	}
	defer r.d.waiters.leave(who)
	return r.call(ctx)
}

func (d *Dispatcher) bounds(bucket string) (most, each int, who string) {
	return bound(d.MaxListening, DefaultListening), bound(d.MaxListeningPerPrincipal, 0), bucket
}

func bound(limit func() int, otherwise int) int {
	if limit != nil {
		if n := limit(); n > 0 {
			return n
		}
	}
	return otherwise
}
