package stdio

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// pingTime bounds the question to one process whether it still answers.
const pingTime = 2 * time.Second

// instance is the process that requests of one key share, or the attempt to
// start it.
type instance struct {
	ready chan struct{} // closed when the attempt is over
	proc  *process
	err   error
	lane  int
	// shared is the Handler of the process.
	shared upstream.Shared
}

// Instance returns a process of a key, starting one if there is none. It waits
// up to Hold. Errors as of OpenSession.
func (p *Pool) Instance(ctx context.Context, key upstream.Key) (upstream.Lease, error) {
	if err := p.admit(key.Principal); err != nil {
		return upstream.Lease{}, err
	}
	if p.hub != nil {
		return p.hub.lease(ctx)
	}
	key = p.lane(key)
	return p.instance(ctx, key, p.cfg.Hold, p.cfg.Startup)
}

// first is the key of the process that readiness asks (P7).
func (p *Pool) first() upstream.Key {
	if p.hub != nil {
		return upstream.Key{} // it serves everybody
	}
	return p.cfg.First
}

// greet says who a legacy workload is: it starts the process of the first key,
// and keeps it. It does not wait for room
// or for a workload that is not there.
func (p *Pool) greet(ctx context.Context, startup time.Duration) (upstream.Info, error) {
	lease, err := p.instance(ctx, p.first(), 0, startup)
	if errors.Is(err, upstream.ErrBusy) {
		if info, ok := p.living(ctx); ok {
			return info, nil
		}
	}
	if err != nil {
		if e, ok := upstream.RPC(err); ok && e.Code == mcp.CodeUnsupportedRevision {
			p.era.Doubt() // B1.5
		}
		return upstream.Info{}, err
	}
	defer lease.Release()
	if err := p.outlast(lease.Leg.(*process)); err != nil {
		return upstream.Info{}, err
	}
	return upstream.InfoOf(lease.Init()), nil
}

// living asks the processes of sessions: a pod that is full of them has a
// workload that speaks.
func (p *Pool) living(ctx context.Context) (upstream.Info, bool) {
	p.mu.Lock()
	var all []*process
	for proc := range p.procs {
		if proc.init != nil && !proc.leaving {
			all = append(all, proc)
		}
	}
	p.mu.Unlock()
	for _, proc := range all {
		if ctx.Err() != nil {
			break
		}
		if ping(ctx, proc) {
			return upstream.InfoOf(proc.init), true
		}
	}
	return upstream.Info{}, false
}

// ping gives one process a moment: another may be quicker.
func ping(ctx context.Context, proc *process) bool {
	ctx, stop := context.WithTimeout(ctx, pingTime)
	defer stop()
	_, err := proc.Peer.Call(ctx, peer.Request{Method: mcp.MethodPing})
	return err == nil
}

func (p *Pool) instance(ctx context.Context, key upstream.Key, hold, startup time.Duration) (upstream.Lease, error) {
	for {
		in, begin, err := p.find(key)
		if err != nil {
			return upstream.Lease{}, err
		}
		if begin {
			// The attempt outlives a caller that goes away: others may wait
			// for it, and the next one will want it.
			go p.begin(p.ctx, key, in, hold, startup)
		}
		select {
		case <-in.ready:
		case <-ctx.Done():
			return upstream.Lease{}, context.Cause(ctx)
		}
		if in.err != nil {
			return upstream.Lease{}, in.err
		}
		if lease, ok := p.pin(in); ok {
			return lease, nil
		}
	}
}

// find returns the key's instance; begin says that the caller has to start it.
func (p *Pool) find(key upstream.Key) (in *instance, begin bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, upstream.ErrClosed
	}
	in = p.instances[key]
	if in != nil && !in.over() {
		return in, false, nil
	}
	next := &instance{ready: make(chan struct{}), lane: key.Lane}
	p.instances[key] = next
	return next, true, nil
}

// over reports whether the instance can no longer be used; pool.mu is held.
func (in *instance) over() bool {
	select {
	case <-in.ready:
		return in.err != nil || in.proc.leaving || in.proc.Err() != nil
	default:
		return false
	}
}

func (p *Pool) begin(life context.Context, key upstream.Key, in *instance, hold, startup time.Duration) {
	ctx, stop := context.WithTimeout(life, hold+2*startup)
	defer stop()
	l := launch{
		params:  upstream.InitializeParams(key),
		handler: &in.shared,
		ended:   func(error) { p.drop(key, in) },
		gone:    in.shared.End,
		shared:  true,
		startup: startup,
	}
	after := func() {}
	if h := p.hub; h != nil {
		l.params = upstream.InitializeParams(upstream.Key{Capabilities: h.capabilities()})
		l.handler, l.listening = h, h.listening
		l.ended = func(cause error) {
			p.drop(key, in)
			if !errors.Is(cause, upstream.ErrIdle) && !errors.Is(cause, upstream.ErrEvicted) {
				h.lost()
			}
		}
	}
	l.params = p.cfg.Revision.Offer(l.params)
	proc, err := p.launch(ctx, hold, l)
	if h := p.hub; h != nil && err == nil {
		after = h.adopted(ctx, proc)
	}
	p.mu.Lock()
	in.proc, in.err = proc, err
	if err != nil && p.instances[key] == in {
		delete(p.instances, key)
	}
	close(in.ready)
	p.mu.Unlock()
	after()
}

// drop forgets an instance whose process has ended.
func (p *Pool) drop(key upstream.Key, in *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.instances[key] == in {
		delete(p.instances, key)
	}
}

// pin keeps the instance from being idle until Release.
func (p *Pool) pin(in *instance) (upstream.Lease, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in.over() {
		return upstream.Lease{}, false
	}
	in.proc.pins++
	return upstream.Lease{Leg: in.proc, Shared: &in.shared, Lane: in.lane, Release: func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		in.proc.pins--
		in.proc.touched = time.Now()
	}}, true
}
