package stdio

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// lasting is the leg of a session that outlives its processes (P15): when one
// has ended, the next request starts another, shakes hands in the same words,
// and tells it the level and the subscriptions of before. Init stays that of
// the first.
type lasting struct {
	pool   *Pool
	launch launch
	told   func(error)
	first  *peer.Init
	level  upstream.Level
	memory upstream.Memory
	done   chan struct{}

	mu  sync.Mutex // before Pool.mu
	now *instance
	err error
}

var _ upstream.Leg = (*lasting)(nil)

func (p *Pool) openLasting(ctx context.Context, r upstream.SessionRequest) (upstream.Leg, error) {
	l := &lasting{pool: p, told: r.Ended, done: make(chan struct{}), launch: launch{
		params:    r.Params,
		handler:   r.Handler,
		listening: r.Listening,
		startup:   p.cfg.Startup,
	}}
	proc, err := p.launch(ctx, p.cfg.Hold, l.launch)
	if err != nil {
		return nil, err
	}
	l.first = proc.init
	l.now = &instance{ready: make(chan struct{}), proc: proc}
	close(l.now.ready)
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.lasting[l] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		proc.finish(EndShutdown, upstream.ErrClosed)
		return nil, upstream.ErrClosed
	}
	return l, nil
}

// Init implements upstream.Leg.
func (l *lasting) Init() *peer.Init { return l.first }

// Level implements upstream.Leg.
func (l *lasting) Level() *upstream.Level { return &l.level }

// Done implements upstream.Leg.
func (l *lasting) Done() <-chan struct{} { return l.done }

// Err implements upstream.Leg.
func (l *lasting) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Call implements upstream.Leg. What certainly did not reach a process that
// has ended is sent to the next one.
func (l *lasting) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	for again := true; ; again = false {
		proc, release, err := l.process(ctx)
		if err != nil {
			return peer.Answer{}, err
		}
		answer, err := proc.Call(ctx, r)
		release()
		if again && undelivered(err) && ctx.Err() == nil && l.Err() == nil {
			continue
		}
		if err == nil {
			l.memory.Remember(r, answer)
		}
		return answer, err
	}
}

// Notify implements upstream.Leg. A process that is not there has no use for
// news of its client; the next one is told everything anew.
func (l *lasting) Notify(ctx context.Context, method string, params []byte) error {
	l.mu.Lock()
	in, err := l.now, l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if proc := in.alive(l.pool); proc != nil {
		return proc.Notify(ctx, method, params)
	}
	return nil
}

// Close implements upstream.Leg.
func (l *lasting) Close(cause error) { l.end(cause, false) }

// end ends the leg with its process; tell says that its owner does not know.
func (l *lasting) end(cause error, tell bool) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = &peer.Failure{Reason: peer.Closed, Err: cause}
	close(l.done)
	in := l.now
	l.mu.Unlock()
	l.pool.mu.Lock()
	delete(l.pool.lasting, l)
	l.pool.mu.Unlock()
	if proc := in.alive(l.pool); proc != nil {
		proc.finish(EndSession, cause)
	}
	if tell && l.told != nil {
		l.told(cause)
	}
}

// process is the present process, which will not be ended for being idle
// before release.
func (l *lasting) process(ctx context.Context) (proc *process, release func(), err error) {
	for {
		in, err := l.find()
		if err != nil {
			return nil, nil, err
		}
		select {
		case <-in.ready:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if in.err != nil {
			return nil, nil, in.err
		}
		if lease, ok := l.pool.pin(in); ok {
			return in.proc, lease.Release, nil
		}
	}
}

// find returns the present process or attempt; it begins one if there is none.
func (l *lasting) find() (*instance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, upstream.ErrClosed
	case !l.now.over():
		return l.now, nil
	}
	in := &instance{ready: make(chan struct{})}
	l.now = in
	p.gone.Go(func() { l.begin(in) }) // outlives a caller that goes away
	return in, nil
}

// begin starts the next process and brings it to where the last one was.
func (l *lasting) begin(in *instance) {
	p := l.pool
	ctx, stop := context.WithTimeout(p.ctx, p.cfg.Hold+2*p.cfg.Startup)
	defer stop()
	proc, err := p.launch(ctx, p.cfg.Hold, l.launch)
	if err == nil {
		for _, r := range l.memory.Again() {
			// What is refused now is so for the workload's own reasons.
			if _, failed := proc.Call(ctx, r); failed != nil {
				break
			}
		}
	}
	p.mu.Lock()
	in.proc, in.err = proc, err
	close(in.ready)
	p.mu.Unlock()
	if told := p.cfg.Hooks.Recreated; told != nil {
		told(err)
	}
	switch {
	case err != nil:
	case l.Err() != nil: // closed meanwhile
		proc.finish(EndSession, l.Err())
	case l.launch.handler != nil:
		for _, m := range upstream.Missed(proc.init.Capabilities, l.memory.URIs()) {
			l.launch.handler.Notification(peer.Incoming{Msg: m})
		}
	}
}

// alive is the process of an instance that can be used now, or nil.
func (in *instance) alive(p *Pool) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-in.ready:
		if in.over() {
			return nil
		}
		return in.proc
	default:
		return nil
	}
}

// undelivered reports a request that no process has got.
func undelivered(err error) bool {
	var f *peer.Failure
	return errors.As(err, &f) && f.NotDelivered && f.Reason != peer.Busy
}
