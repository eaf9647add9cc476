package proxy

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// attributionWait is how long a request of the workload waits until only one
// call is left that it can belong to (P5), and how long new calls wait for that.
const attributionWait = 30 * time.Second

// Attribution is the closed set of what the attribution of a workload's request
// to a client's took (P5).
type Attribution string

// The ways.
const (
	AttributedCertain   Attribution = "stream"    // it came on the call's stream, or names its task
	AttributedSole      Attribution = "sole"      // no other call was in flight
	AttributedWaited    Attribution = "waited"    // the others had to end first
	AttributedAmbiguous Attribution = "ambiguous" // several were left
	AttributedNone      Attribution = "none"      // there was none
)

// desk is in charge of one shared leg: it finds out which call a request of
// the workload belongs to (B6.1), and spreads changes.
type desk struct {
	p        *Proxy
	declared []byte // the leg's client capabilities
	lane     int    // 0: lists are this leg's (B10.5, B11.11)
	life     string // tells the legs of a key apart that follow each other
	watches
	ready chan struct{} // closed when the leg watches what is listened to

	mu      sync.Mutex
	flights map[*flight]struct{}
	ghosts  map[*flight]struct{} // given up, and the workload may not know yet
	givenUp time.Time            // when a call last became a ghost
	tasks   map[string]*flight   // by the id that the workload gave theirs
	asking  int                  // requests of the workload that wait for attribution
	changed chan struct{}        // closed, and replaced, when flights or asking change
}

// deskOf is the desk of a lease's leg. A new leg first watches what the key's
// listeners want, so that they hear of what a call on it changes.
func (p *Proxy) deskOf(ctx context.Context, lease upstream.Lease, key upstream.Key) *desk {
	if lease.Apart {
		p.parking.habits.apart.Store(true)
	}
	capabilities := key.Capabilities
	if capabilities == "" {
		capabilities = "{}"
	}
	var made *desk
	d, _ := lease.Shared.Use(func() peer.Handler {
		made = &desk{p: p, lane: lease.Lane, life: rand.Text(), declared: []byte(capabilities), flights: map[*flight]struct{}{}, changed: make(chan struct{})}
		made.leg, made.ready = lease.Leg, make(chan struct{})
		p.parking.audiences.attend(made, key)
		return made
	}).(*desk)
	if made != nil {
		lease.Shared.OnRenewed(made.to.missed)
		lease.Shared.OnEnded(func() { made.to.retire(made) })
		made.follow(ctx)
		close(made.ready)
	}
	select {
	case <-d.ready:
	case <-ctx.Done():
	}
	return d
}

// tell wakes who waits for a change; mu is held.
func (d *desk) tell() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// enter takes a call in. While a request of the workload waits to be attributed
// no new ones begin (P5).
func (d *desk) enter(ctx context.Context, f *flight) error {
	t := time.NewTimer(attributionWait)
	defer t.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.asking > 0 {
		changed := d.changed
		d.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-t.C:
			err = upstream.ErrBusy
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		d.mu.Lock()
		if err != nil {
			return err
		}
	}
	d.flights[f] = struct{}{}
	return nil
}

func (d *desk) leave(f *flight) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.flights, f)
	d.unbind(f)
	d.tell()
}

// Request implements peer.Handler.
func (d *desk) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	if bad := mlUndeclared(d.declared, in.Msg); bad != nil { // B6.2
		d.p.lossy(LossyReverse)
		if c := callOf(in); c != nil && asksForMore(in.Msg.Method) && !d.rumour(in) {
			c.lacks(in.Msg) // B7.15
		}
		return nil, bad
	}
	f, how := d.owner(ctx, in)
	if h := d.p.cfg.Hooks.Attributed; h != nil {
		h(how)
	}
	switch {
	case f != nil:
		return f.Request(ctx, in)
	case how == AttributedAmbiguous:
		return nil, internal("it cannot be told which request this belongs to", string(how))
	}
	d.p.lossy(LossyReverse)
	if f := d.sole(in); f != nil {
		return nil, f.withdrew(in.Msg)
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no client request to attach this to")
}

// sole is the only call in flight, for a request of the workload that has to be
// its own although its client does not take it; nil if it may be another's.
func (d *desk) sole(in peer.Incoming) *flight {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.Certain || relatedTask(in.Msg) != "" || len(d.flights) != 1 || len(d.ghosts) > 0 {
		return nil
	}
	for f := range d.flights {
		return f
	}
	return nil
}

// owner is the call that a request of the workload belongs to (B6.1, P5).
func (d *desk) owner(ctx context.Context, in peer.Incoming) (*flight, Attribution) {
	id := relatedTask(in.Msg)
	if f := d.byTask(ctx, id); f != nil {
		return f, AttributedCertain
	}
	if id != "" && !in.Certain {
		return nil, AttributedNone // of a task that nobody waits for any more
	}
	if in.Certain {
		f, _ := callOf(in).(*flight)
		if f == nil {
			return nil, AttributedNone
		}
		return f, AttributedCertain
	}
	t := time.NewTimer(attributionWait)
	defer t.Stop()
	how := AttributedSole
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.candidates(in.Msg)
	for {
		left := d.candidates(in.Msg)
		switch {
		case slices.ContainsFunc(asked, func(f *flight) bool { return f.lost }):
			// A call that was given up has not ended as those do that wait for
			// no answer: it may be its own, and is shown to nobody else.
			return nil, AttributedAmbiguous
		case len(left) == 0:
			return nil, AttributedNone
		case len(left) == 1 && !d.haunted(in.Msg):
			return left[0], how
		case hopeless(left):
			return nil, AttributedAmbiguous
		}
		if how == AttributedSole {
			how = AttributedWaited
			d.asking++
			defer func() { d.asking--; d.tell() }()
		}
		changed := d.changed
		d.mu.Unlock()
		over := false
		select {
		case <-changed:
		case <-t.C:
			over = true
		case <-ctx.Done():
			over = true
		}
		d.mu.Lock()
		if !over {
			continue
		}
		if all := d.candidates(in.Msg); ctx.Err() == nil && len(all) > 1 {
			for _, f := range all {
				f.mixed = true
				d.p.parking.habits.wasMixed(f.habit)
			}
		}
		return nil, AttributedAmbiguous
	}
}

// candidates are the calls in flight whose client takes such a request; mu is
// held.
func (d *desk) candidates(m *jsonrpc.Message) (out []*flight) {
	for f := range d.flights {
		if f.may(m.Method, m.Params) == nil {
			out = append(out, f)
		}
	}
	return out
}

// hopeless: these calls have been waited for already.
func hopeless(all []*flight) bool {
	for _, f := range all {
		if !f.mixed {
			return false
		}
	}
	return true
}

// caller is a call in flight on a shared leg.
type caller interface {
	peer.Handler
	// lacks ends the call because the workload asked for what its client did
	// not declare.
	lacks(m *jsonrpc.Message)
}

func callOf(in peer.Incoming) caller {
	if in.Call == nil {
		return nil
	}
	c, _ := in.Call.Value().(caller)
	return c
}

// Notification implements peer.Handler: changes go to who listens (B10.4), the
// rest to its call.
func (d *desk) Notification(in peer.Incoming) {
	switch in.Msg.Method {
	case mcp.NotifyToolsChanged, mcp.NotifyPromptsChanged, mcp.NotifyResourcesChanged, mcp.NotifyResourceUpdated:
		d.p.heard(in.Msg.Method)
		d.hears(in.Msg)
		return
	}
	switch in.Msg.Method {
	case mcp.NotifyTaskStatus:
		d.taskShown(in)
		return
	case mcp.NotifyElicitComplete:
		d.p.parking.outings.over(in.Msg)
		return
	}
	c := callOf(in)
	switch {
	case c == nil:
		d.p.lossy(LossyNotification)
	case d.hearsay(in):
		d.p.lossy(LossyLog)
	default:
		c.Notification(in)
	}
}

// hears takes a change in. Whoever listens under the key is told of it, whichever
// process it comes from (P7). Lists are read from lane 0 only: what another
// process has of its own does not show there (B11.11), and is counted.
func (d *desk) hears(m *jsonrpc.Message) {
	if d.lane == 0 {
		d.to.tell(m)
		return
	}
	if m.Method != mcp.NotifyResourceUpdated {
		d.p.lossy(LossyElsewhere)
	}
	d.to.repeated(m)
}
