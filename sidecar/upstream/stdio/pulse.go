package stdio

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Clocks of a pulse (W21.3).
const (
	// firstPulse is how long a call lasts before it is looked for the first time
	// whether its workload answers while it works; pulseEvery is the time between
	// two looks once that is known, and of silence before a process is asked.
	firstPulse = time.Second
	pulseEvery = 10 * time.Second
	// pulses are how many looks in a row find nothing before a process that was
	// asked counts as hung. Looks are counted, and not time: while the machine
	// stands still nobody can answer.
	pulses = 9
)

// errHung: the process has stopped working, and does not know.
var errHung = errors.New("the process does not answer any more")

// pulse watches a process that serves everybody while calls wait for it: one
// that is stopped, or stuck, would have each of them wait for its own deadline.
// A process that says nothing is asked for a sign of life, and ended when it
// gives none (B11.7, W21.2); but only while it has nothing to do that the
// workload was not seen to answer at. It may do some things one after the other,
// or as many as it has threads: there the deadlines of the calls are all there
// is, as they are while a client is asked.
type pulse struct {
	proc *process
	said atomic.Uint64 // reads of its output that brought something
	on   atomic.Bool   // the clock runs

	mu     sync.Mutex
	clock  *time.Timer // nil: this process is not watched
	last   uint64      // said, at the last look
	missed int         // looks since it was asked
	asking *question
}

// question is a sign of life that was asked for.
type question struct{ stop context.CancelFunc }

// watch begins to watch; nothing is in flight yet.
func (b *pulse) watch(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.proc = p
	b.clock = time.AfterFunc(time.Hour, b.look)
	b.clock.Stop()
}

// begun is called when a call has been counted.
func (b *pulse) begun() {
	if b.on.Load() || !b.on.CompareAndSwap(false, true) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = b.said.Load()
	b.wind()
}

// wind sets the clock; mu is held.
func (b *pulse) wind() {
	switch {
	case b.clock == nil:
	case b.proc.pool.lively.any():
		b.clock.Reset(pulseEvery)
	default:
		b.clock.Reset(firstPulse)
	}
}

// look is what the clock does.
func (b *pulse) look() {
	b.mu.Lock()
	p := b.proc
	if p.asked.Load() == 0 || p.Err() != nil {
		b.forget()
		b.on.Store(false)
		b.mu.Unlock()
		if p.asked.Load() > 0 && p.Err() == nil {
			b.begun() // a call came in between
		}
		return
	}
	said := b.said.Load()
	calls, _ := p.Peer.Waiting(0)
	known := p.pool.lively.covers(calls)
	hung := false
	switch {
	case len(calls) == 0 || p.Peer.Asking():
		b.forget()
	case said == b.last && b.asking != nil:
		b.missed++
		hung = b.missed >= pulses && known
	case said == b.last || !known:
		b.forget()
		b.ask()
	default:
		b.forget()
	}
	b.last = said
	if !hung {
		b.clock.Reset(pulseEvery)
	}
	b.mu.Unlock()
	if hung {
		p.hung()
	}
}

// forget takes the question back; mu is held.
func (b *pulse) forget() {
	if b.asking != nil {
		b.asking.stop()
		b.asking = nil
	}
	b.missed = 0
}

// ask asks for a sign of life: any answer is one. The calls that are in flight
// before and after it are what the workload answers at. mu is held.
func (b *pulse) ask() {
	p := b.proc
	r := peer.Request{Method: mcp.MethodPing, Quiet: true, Aside: true}
	if p.discovered != nil { // there is no ping (W21.4)
		r.Method, r.Revision = mcp.MethodDiscover, p.discovered.Revision
		r.Params = upstream.DiscoverParams(r.Revision)
	}
	ctx, stop := context.WithCancel(p.pool.ctx)
	q := &question{stop}
	b.asking = q
	_, newest := p.Peer.Waiting(0)
	go func() {
		defer stop()
		if _, err := p.Peer.Call(ctx, r); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.asking == q { // it could not be asked
				b.forget()
			}
			return
		}
		held, _ := p.Peer.Waiting(newest)
		p.pool.lively.saw(held)
	}()
}

// end stops the clock.
func (b *pulse) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clock != nil {
		b.clock.Stop()
		b.forget()
	}
}

// listener notes that something was read.
type listener struct {
	io.ReadCloser
	said *atomic.Uint64
}

func (l listener) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if n > 0 {
		l.said.Add(1)
	}
	return n, err
}

// hung ends a process that gives no sign of life, as if it had ended by itself
// (B3.8).
func (p *process) hung() {
	if !p.begin(EndHung) {
		return
	}
	p.judge()
	if p.pool.hub != nil || p.discovered != nil {
		p.pool.stuck.Store(true)
	}
	p.stop()
	p.Peer.Ended(errHung)
}

// unwell says that the process that serves everybody had to be ended because it
// did not answer, until a handshake has shown that another one does.
func (p *Pool) unwell() error {
	if !p.stuck.Load() {
		return nil
	}
	return &upstream.HandshakeError{Reason: config.ReasonNoAnswer, Err: errHung}
}
