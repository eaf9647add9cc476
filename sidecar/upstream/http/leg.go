package http

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// retryEvery spaces attempts to reach a workload that is not there.
const retryEvery = 250 * time.Millisecond

// conn is one session with the workload.
type conn struct {
	*peer.Peer
	http interface{ Wait() }
	// older: it is a stream of HTTP+SSE.
	older bool
	deaf  atomic.Bool // the workload has no stream of its own
}

// leg is the Leg of this package: one session after another (B3.7). Init stays
// that of the first.
type leg struct {
	w       *Workload
	params  []byte
	handler peer.Handler
	first   *peer.Init
	level   upstream.Level
	memory  upstream.Memory // for the next session (B3.7)
	ctx     context.Context
	cancel  context.CancelCauseFunc
	turn    chan struct{} // cap 1: held while a session is renewed

	mu  sync.Mutex
	now *conn
}

var _ upstream.Leg = (*leg)(nil)

// open makes a leg with its first session.
func (w *Workload) open(ctx context.Context, params []byte, handler peer.Handler, hold, startup time.Duration) (*leg, error) {
	l := &leg{w: w, params: w.cfg.Revision.Offer(params), handler: handler, turn: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	deadline := time.Now().Add(hold)
	for {
		c, in, err := l.shake(ctx, startup)
		if err == nil {
			l.now, l.first = c, in
			break
		}
		if !retry(ctx, err, deadline) {
			if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errSilent) {
				return nil, cause
			}
			return nil, explain(err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		l.end(upstream.ErrClosed)
		return nil, upstream.ErrClosed
	}
	w.legs[l] = struct{}{}
	return l, nil
}

// shake opens a session, on the older transport if the workload knows no other
// (B1.3).
func (l *leg) shake(ctx context.Context, startup time.Duration) (*conn, *peer.Init, error) {
	if l.w.older.Load() {
		c, in, err := l.shakeOlder(ctx, startup)
		if err != nil && refusesPost(err) {
			l.w.older.Store(false) // it was restarted as something else
		}
		return c, in, err
	}
	c, in, err := l.shakeStreamable(ctx, startup)
	if err == nil || !refusesPost(err) {
		return c, in, err
	}
	if c, in, older := l.shakeOlder(ctx, min(startup, silence)); older == nil {
		l.w.older.Store(true)
		return c, in, nil
	}
	return nil, nil, err
}

func (l *leg) shakeStreamable(ctx context.Context, startup time.Duration) (*conn, *peer.Init, error) {
	c := &conn{}
	cfg := l.w.leg(true)
	heard := make(chan struct{})
	var first sync.Once
	cfg.Hooks.Listening = func(outcome string) {
		if outcome == "refused" {
			c.deaf.Store(true)
		}
		first.Do(func() { close(heard) })
		if told := l.w.cfg.Hooks.Leg.Listening; told != nil {
			told(outcome)
		}
	}
	link := httpleg.New(cfg)
	c.http = link
	c.Peer = peer.New(link, peer.Config{Handler: l.handler, Hooks: l.w.cfg.Hooks.Peer, Budget: l.w.cfg.Budget})
	ctx, stop := context.WithTimeoutCause(ctx, startup, errSilent)
	defer stop()
	in, err := c.Initialize(ctx, l.params, l.w.cfg.Revision.Accept)
	if err != nil {
		l.w.finish(c, err)
		return nil, nil, err
	}
	settle(ctx, heard)
	return c, in, nil
}

// hearing is how long a session waits for a workload that does not send the
// head of its stream before the first message.
const hearing = time.Second

// settle waits until it is known what became of the standalone GET: workloads
// drop what they ask on it while nobody listens (P6), and where there is none
// no resource may be promised (B10.3).
func settle(ctx context.Context, heard <-chan struct{}) {
	t := time.NewTimer(hearing)
	defer t.Stop()
	select {
	case <-heard:
	case <-t.C:
	case <-ctx.Done():
	}
}

// finish closes a session in the background.
func (w *Workload) finish(c *conn, cause error) {
	c.Close(cause)
	w.wg.Go(func() {
		c.http.Wait()
		c.Wait()
	})
}

// retry waits a little when the workload is not there and may come back before
// the deadline.
func retry(ctx context.Context, err error, deadline time.Time) bool {
	left := time.Until(deadline)
	if peer.ReasonOf(err) != peer.Unreachable || left <= 0 {
		return false
	}
	t := time.NewTimer(min(left, retryEvery))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Init implements upstream.Leg.
func (l *leg) Init() *peer.Init { return l.first }

// Level implements upstream.Leg.
func (l *leg) Level() *upstream.Level { return &l.level }

// Done implements upstream.Leg.
func (l *leg) Done() <-chan struct{} { return l.ctx.Done() }

// Err implements upstream.Leg.
func (l *leg) Err() error {
	if l.ctx.Err() == nil {
		return nil
	}
	return &peer.Failure{Reason: peer.Closed, Err: context.Cause(l.ctx)}
}

// deaf reports that the workload has no stream for what belongs to no request
// (B10.3).
func (l *leg) deaf() bool { return l.current().deaf.Load() }

func (l *leg) current() *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Call implements upstream.Leg. A request that was certainly not delivered is
// sent again: once after a new session, and until Hold while nobody listens.
func (l *leg) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	return l.callWithin(ctx, r, l.w.cfg.Hold)
}

func (l *leg) callWithin(ctx context.Context, r peer.Request, hold time.Duration) (peer.Answer, error) {
	deadline := time.Now().Add(hold)
	for renewed := false; ; {
		if err := l.Err(); err != nil {
			return peer.Answer{}, err
		}
		c := l.current()
		if c.lost() {
			if err := l.renew(ctx, c, deadline); err != nil {
				return peer.Answer{}, err
			}
			continue
		}
		answer, err := c.Call(ctx, r)
		switch {
		case err == nil:
			l.memory.Remember(r, answer)
			return answer, nil
		case peer.ReasonOf(err) == peer.SessionGone && !renewed:
			renewed = true
			if err := l.renew(ctx, c, deadline); err != nil {
				return peer.Answer{}, err
			}
		case peer.ReasonOf(err) == peer.Closed && l.Err() == nil:
			// The session was replaced between the look and the call.
		case !retry(ctx, err, deadline):
			return peer.Answer{}, cut(err)
		}
	}
}

// Notify implements upstream.Leg.
func (l *leg) Notify(ctx context.Context, method string, params []byte) error {
	return l.current().Notify(ctx, method, params)
}

// Close implements upstream.Leg.
func (l *leg) Close(cause error) {
	l.w.mu.Lock()
	delete(l.w.legs, l)
	l.w.mu.Unlock()
	l.end(cause)
}

func (l *leg) end(cause error) {
	if cause == nil {
		cause = errors.New("closed")
	}
	l.mu.Lock()
	if l.ctx.Err() != nil {
		l.mu.Unlock()
		return
	}
	l.cancel(cause)
	c := l.now
	l.mu.Unlock()
	if shared, ok := l.handler.(*upstream.Shared); ok {
		shared.End()
	}
	l.w.finish(c, cause)
}

func (l *leg) quiet(ctx context.Context) { quiet(ctx, l.current()) }

// quiet returns when nothing is in flight or ctx ends.
func quiet(ctx context.Context, of interface{ Idle() (time.Time, bool) }) {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		if _, idle := of.Idle(); idle {
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}
