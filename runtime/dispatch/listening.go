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

// Listens reports whether a request is a listening exchange.
func (r *Request) Listens() bool {
	m, known := r.Profile.Method(r.Msg.Method)
	return known && m.Listening
}

// graceful reports whether a cause leaves a listening exchange time to end well.
func graceful(cause error) bool {
	return errors.Is(cause, ErrGoingAway) || errors.Is(cause, ErrShutdown) || errors.Is(cause, auth.ErrExpired)
}

// listeners counts listening exchanges.
type listeners struct {
	mu sync.Mutex
	n  int
	by map[string]int // principal → exchanges
}

func (l *listeners) enter(most, mostEach int, principal string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n >= most || mostEach > 0 && l.by[principal] >= mostEach {
		return false
	}
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.n++
	l.by[principal]++
	return true
}

func (l *listeners) leave(principal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n--
	if l.by[principal]--; l.by[principal] == 0 {
		delete(l.by, principal)
	}
}

// listen runs the handler of a listening exchange.
func (r *Run) listen(ctx context.Context) Outcome {
	d, who := r.d, r.x.req.Principal
	if !d.listeners.enter(bound(d.MaxListening, DefaultListening), bound(d.MaxListeningPerPrincipal, 0), who) {
		d.Observer.Reject(hook.RejectListenLimit)
		return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "too many subscriptions").WithReason(mcp.ReasonBusy)) // W33.12
	}
	defer d.listeners.leave(who)
	d.Observer.Listen(+1)
	defer d.Observer.Listen(-1)
	return r.call(ctx)
}

func bound(limit func() int, otherwise int) int {
	if limit != nil {
		if n := limit(); n > 0 {
			return n
		}
	}
	return otherwise
}
