package drain

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/inflight"
)

// ErrTimeUp is the cause given to requests that are cut because the drain has
// lasted as long as it may.
var ErrTimeUp = errors.New("drain: time is up")

// State is where a drain stands. States only ever grow.
type State int32

// The states, see the package comment.
const (
	Serving State = iota
	Leaving
	Closing
	Drained
	Closed
)

var stateNames = [...]string{"serving", "leaving", "closing", "drained", "closed"}

// String names the state for logs.
func (s State) String() string { return stateNames[s] }

// cutAnswer is how long cut requests have for their last words.
const cutAnswer = time.Second

// Clocks bound the steps.
type Clocks struct {
	// Propagation is how long endpoints may take to move away.
	Propagation time.Duration
	// Drain is how long requests may take after that, linger included.
	Drain time.Duration
	// Linger is how long there must have been nothing in flight before the
	// drain is over: a client that reuses a connection just now must still
	// get an answer (O25).
	Linger time.Duration
	// Spread is the window over which streams are ended, so that their
	// clients do not come back in one herd.
	Spread time.Duration
}

// Options configure a Drainer. Functions may be nil.
type Options struct {
	Clocks Clocks
	// Stop is called once when Closing begins: refuse new sessions, end
	// streams spread over at most the given window. It must not block.
	Stop func(spread time.Duration)
	// Cut is called once if time is up before all is quiet: end what is in
	// flight with the cause. It must not block.
	Cut func(cause error)
	// Last is called once right before Drained: close connections that are
	// idle. It must not block.
	Last func()
	// Observe is told each new state, with the cause of the drain and the
	// requests in flight at that moment. It must not block.
	Observe func(s State, cause string, inFlight int)
}

// Drainer is one drain. All methods may be called concurrently. Run must be
// running for a drain to make progress.
type Drainer struct {
	o        Options
	left     func()        // leave, made once
	draining chan struct{} // closed by the first Begin
	drained  chan struct{}

	requests inflight.Counter
	state    atomic.Int32 // a State; changed under mu
	refusing atomic.Bool

	mu    sync.Mutex
	cause string
	last  time.Time // when a request was over, once it is not Serving
}

// New returns a Drainer that serves.
func New(o Options) *Drainer {
	d := &Drainer{o: o, draining: make(chan struct{}), drained: make(chan struct{})}
	d.left = d.leave
	return d
}

// Begin starts the drain and returns at once. cause is a constant word. Only
// the first call counts.
func (d *Drainer) Begin(cause string) {
	d.mu.Lock()
	first := d.State() == Serving
	if first {
		d.cause = cause
		d.state.Store(int32(Leaving))
		close(d.draining)
	}
	d.mu.Unlock()
	if first {
		d.observe(Leaving, cause)
	}
}

// Draining is closed once a drain has begun.
func (d *Drainer) Draining() <-chan struct{} { return d.draining }

// Drained is closed once the drain is over.
func (d *Drainer) Drained() <-chan struct{} { return d.drained }

// State returns the present state.
func (d *Drainer) State() State { return State(d.state.Load()) }

// InFlight returns how many requests are between Enter and leave.
func (d *Drainer) InFlight() int { return d.requests.Len() }

// Enter counts a request in. It refuses once requests have been cut or the end
// has come; a drain that ended quietly still takes what comes, because whoever
// sends here does not know better yet. leave must be called exactly once, after
// the answer has been written.
func (d *Drainer) Enter() (leave func(), ok bool) {
	d.requests.Enter()
	if d.refusing.Load() {
		d.requests.Leave()
		return nil, false
	}
	return d.left, true
}

func (d *Drainer) leave() {
	if d.State() != Serving {
		d.mu.Lock()
		d.last = time.Now()
		d.mu.Unlock()
	}
	d.requests.Leave()
}

// Run waits for Begin and then takes the drain through its states until it is
// Drained. If ctx ends earlier it returns the cause.
func (d *Drainer) Run(ctx context.Context) error {
	select {
	case <-d.draining:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := wait(ctx, d.o.Clocks.Propagation); err != nil {
		return err
	}
	d.advance(Closing)
	if d.o.Stop != nil {
		d.o.Stop(min(d.o.Clocks.Spread, d.o.Clocks.Drain/2))
	}
	// What is cut needs a moment to say so to its clients, within Drain.
	answer := min(cutAnswer, d.o.Clocks.Drain/4)
	if !d.quiet(ctx, d.o.Clocks.Drain-answer) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d.refusing.Store(true)
		if d.o.Cut != nil {
			d.o.Cut(ErrTimeUp)
		}
		d.empty(ctx, answer)
	}
	if d.o.Last != nil {
		d.o.Last()
	}
	d.advance(Drained)
	close(d.drained)
	return nil
}

// Close marks the end, from which on everything is refused. Call it before
// listeners are closed.
func (d *Drainer) Close() {
	d.refusing.Store(true)
	d.advance(Closed)
}

// quiet waits until nothing has been in flight for Linger, and reports whether
// that came within most. Time up with nothing in flight is quiet too.
func (d *Drainer) quiet(ctx context.Context, most time.Duration) bool {
	closing := time.Now()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		if d.requests.Wait(ctx) != nil {
			return false
		}
		since := d.lastLeft()
		if closing.After(since) {
			since = closing
		}
		left := d.o.Clocks.Linger - time.Since(since)
		if left <= 0 {
			return true
		}
		if wait(ctx, left) != nil {
			return errors.Is(ctx.Err(), context.DeadlineExceeded) && d.InFlight() == 0
		}
	}
}

func (d *Drainer) lastLeft() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// empty waits until nothing is in flight, at most for the given time.
func (d *Drainer) empty(ctx context.Context, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	_ = d.requests.Wait(ctx)
}

func (d *Drainer) advance(to State) {
	d.mu.Lock()
	grown := to > d.State()
	if grown {
		d.state.Store(int32(to))
	}
	cause := d.cause
	d.mu.Unlock()
	if grown {
		d.observe(to, cause)
	}
}

func (d *Drainer) observe(s State, cause string) {
	if d.o.Observe != nil {
		d.o.Observe(s, cause, d.InFlight())
	}
}

func wait(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
