package http

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// instance is the session that requests of one key share, or the attempt to
// open it. ready is closed when the attempt is over; the rest but leg and err
// is guarded by Workload.mu.
type instance struct {
	ready chan struct{}
	leg   *leg
	err   error
	// shared is the Handler of the session.
	shared upstream.Shared

	pins    int
	touched time.Time
	idle    *time.Timer
}

// Instance returns the session of a key, opening it if there is none.
func (w *Workload) Instance(ctx context.Context, key upstream.Key) (upstream.Lease, error) {
	key.Any = false // a session serves any number of calls
	return w.instance(ctx, key, w.cfg.Hold, w.cfg.Startup)
}

// greet says who a legacy workload is: it opens the session of the
// first key, and keeps it; one that is there already
// is asked whether it still holds. It does not wait for a workload that is not
// there.
func (w *Workload) greet(ctx context.Context, startup time.Duration) (upstream.Info, error) {
	lease, err := w.instance(ctx, w.cfg.First, 0, startup)
	if err != nil {
		w.doubt(err)
		return upstream.Info{}, err
	}
	defer lease.Release()
	ctx, stop := context.WithTimeoutCause(ctx, startup, errSilent)
	defer stop()
	if _, err := lease.Leg.(*leg).callWithin(ctx, peer.Request{Method: mcp.MethodPing}, 0); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSilent) {
			return upstream.Info{}, cause
		}
		w.doubt(err)
		return upstream.Info{}, explain(err)
	}
	return upstream.InfoOf(lease.Init()), nil
}

// doubt looks whether a handshake was refused as a workload of the modern era
// refuses it: it may have been replaced in place (B1.5).
func (w *Workload) doubt(err error) {
	if e, ok := upstream.RPC(err); ok && (e.Code == mcp.CodeUnsupportedRevision || e.Code == jsonrpc.CodeMethodNotFound) {
		w.era.Doubt()
	}
}

func (w *Workload) instance(ctx context.Context, key upstream.Key, hold, startup time.Duration) (upstream.Lease, error) {
	for {
		in, begin, err := w.find(key)
		if err != nil {
			return upstream.Lease{}, err
		}
		if begin {
			w.wg.Go(func() { w.begin(key, in, hold, startup) })
		}
		select {
		case <-in.ready:
		case <-ctx.Done():
			return upstream.Lease{}, context.Cause(ctx)
		}
		if in.err != nil {
			return upstream.Lease{}, in.err
		}
		if lease, ok := w.pin(key, in); ok {
			return lease, nil
		}
	}
}

// find returns the key's instance; begin says that the caller has to open it.
func (w *Workload) find(key upstream.Key) (in *instance, begin bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, false, upstream.ErrClosed
	}
	if in = w.instances[key]; in != nil {
		return in, false, nil
	}
	if len(w.instances) >= w.cfg.MaxInstances && !w.evict() {
		return nil, false, upstream.ErrBusy
	}
	in = &instance{ready: make(chan struct{})}
	w.instances[key] = in
	return in, true, nil
}

// evict ends the longest unused instance; mu is held.
func (w *Workload) evict() bool {
	var victim upstream.Key
	var oldest *instance
	for key, in := range w.instances {
		if in.idle != nil && in.pins == 0 && (oldest == nil || in.touched.Before(oldest.touched)) {
			victim, oldest = key, in
		}
	}
	if oldest == nil {
		return false
	}
	delete(w.instances, victim)
	oldest.idle.Stop()
	go oldest.leg.Close(upstream.ErrEvicted)
	return true
}

func (w *Workload) begin(key upstream.Key, in *instance, hold, startup time.Duration) {
	// The attempt outlives a caller that goes away: others may wait for it.
	ctx, stop := context.WithTimeout(w.talk.ctx, hold+2*startup)
	defer stop()
	in.leg, in.err = w.open(ctx, upstream.InitializeParams(key), &in.shared, hold, startup)
	w.mu.Lock()
	defer w.mu.Unlock()
	if in.err != nil {
		delete(w.instances, key)
	} else {
		in.touched = time.Now()
		in.idle = time.AfterFunc(w.cfg.Idle, func() { w.watchIdle(key, in) })
	}
	close(in.ready)
}

// watchIdle ends an instance that nobody has used, else sets the clock again.
func (w *Workload) watchIdle(key upstream.Key, in *instance) {
	w.mu.Lock()
	left := w.cfg.Idle
	if in.pins == 0 {
		left = time.Until(in.touched.Add(w.cfg.Idle))
	}
	over := left <= 0 && w.instances[key] == in
	if over {
		delete(w.instances, key)
	} else if w.instances[key] == in && !w.closed {
		in.idle.Reset(max(left, time.Millisecond))
	}
	w.mu.Unlock()
	if over {
		in.leg.Close(upstream.ErrIdle)
	}
}

// pin keeps the instance until Release.
func (w *Workload) pin(key upstream.Key, in *instance) (upstream.Lease, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.instances[key] != in || in.leg.Err() != nil {
		if w.instances[key] == in {
			delete(w.instances, key)
		}
		return upstream.Lease{}, false
	}
	in.pins++
	return upstream.Lease{Leg: in.leg, Shared: &in.shared, Lane: key.Lane, Apart: true, Deaf: in.leg.deaf, Release: func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		in.pins--
		in.touched = time.Now()
	}}, true
}
