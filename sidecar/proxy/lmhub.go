package proxy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Clocks of subscriptions at a modern workload.
const (
	// ackWait bounds the wait for an acknowledgement.
	ackWait = 10 * time.Second
	// overlap is how long the old subscription goes on beside the new one, so
	// that what was on its way is not lost (B10.9).
	overlap = 100 * time.Millisecond
)

// maxUris bounds the resources that one session may subscribe to.
const maxUris = 1024

// hubs are the subscriptions of legacy sessions at a modern workload: one
// conversation for all sessions of a principal, and never across principals
// (B10.11). The zero value is ready. All methods may be called concurrently.
type hubs struct {
	mu  sync.Mutex
	all map[string]*hub // by principal
}

// hub subscribes for the sessions of one principal. A filter cannot change, so
// for each change there is a new subscription first and then the old one ends
// (B10.9).
type hub struct {
	p    *Proxy
	conv upstream.Conversation
	ctx  context.Context // until the last session has left
	stop context.CancelFunc
	wake chan struct{} // cap 1: something is wanted that was not

	mu      sync.Mutex
	members map[*lmSession]filter
	version uint64         // counts changes of what is wanted
	settled uint64         // the newest version that is subscribed, or refused
	agreed  filter         // what the workload honours
	uris    bool           // it speaks of resources at all
	refused *jsonrpc.Error // it refused the newest version
	turned  chan struct{}  // closed, and made anew, when settled changes
	now     *ear           // the newest that was acknowledged
	last    *ear           // the newest; only run's
	twins   twins
}

// join takes a session in.
func (h *hubs) join(p *Proxy, s *lmSession) {
	who := s.s.Principal()
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.all[who]
	if one == nil {
		one = &hub{p: p, conv: s.conv, wake: make(chan struct{}, 1), members: map[*lmSession]filter{}, agreed: newFilter(), turned: make(chan struct{})}
		one.ctx, one.stop = context.WithCancel(context.Background())
		if h.all == nil {
			h.all = map[string]*hub{}
		}
		h.all[who] = one
		go one.run()
	}
	one.mu.Lock()
	one.members[s] = advertised(s.conv.Discovered().Capabilities)
	one.mu.Unlock()
	one.changed()
}

// leave lets a session go; with the last one the subscription ends.
func (h *hubs) leave(s *lmSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	who := s.s.Principal()
	one := h.all[who]
	if one == nil {
		return
	}
	one.mu.Lock()
	delete(one.members, s)
	empty := len(one.members) == 0
	one.mu.Unlock()
	if empty {
		delete(h.all, who)
		one.stop()
		return
	}
	one.changed()
}

// of is the hub of a session, nil when it has left.
func (h *hubs) of(s *lmSession) *hub {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[s.s.Principal()]
}

// changed makes the hub look at what is wanted.
func (h *hub) changed() uint64 {
	h.mu.Lock()
	h.version++
	v := h.version
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return v
}

// wanted is everything that the sessions want to hear.
func (h *hub) wanted() (filter, uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := newFilter()
	for _, f := range h.members {
		all.add(f)
	}
	return all, h.version
}

// run keeps one subscription that covers what is wanted.
func (h *hub) run() {
	asked := newFilter()
	for {
		want, version := h.wanted()
		if want.equal(asked) {
			h.settle(version)
		} else {
			asked = want
			h.subscribe(want, version)
		}
		select {
		case <-h.wake:
		case <-h.ctx.Done():
			h.replace(nil)
			return
		}
	}
}

// subscribe opens a subscription and, once it is acknowledged, ends the one
// before.
func (h *hub) subscribe(want filter, version uint64) {
	h.mu.Lock()
	now := h.now
	h.mu.Unlock()
	if h.last != nil && h.last != now {
		h.last.stop(errUnsubscribed) // it was never acknowledged
		h.last = nil
	}
	if want.empty() {
		h.replace(nil)
		h.agree(want, false, nil, version)
		return
	}
	e := newEar(h, want, version)
	h.last = e
	t := time.NewTimer(ackWait)
	defer t.Stop()
	select {
	case <-e.acked:
	case <-e.done:
		h.agree(newFilter(), false, e.refusal(), version)
	case <-t.C:
		// It goes on trying; those who wait need not.
		h.agree(newFilter(), false, internal("the workload did not acknowledge the subscription", "timeout"), version)
	case <-h.ctx.Done():
	}
}

// replace makes e the subscription that counts.
func (h *hub) replace(e *ear) {
	h.mu.Lock()
	old := h.now
	h.now = e
	h.twins = twins{}
	h.mu.Unlock()
	if old == nil || old == e {
		return
	}
	if e == nil {
		old.stop(errUnsubscribed)
		return
	}
	time.AfterFunc(overlap, func() { old.stop(errUnsubscribed) })
}

var errUnsubscribed = errors.New("the subscription is no longer needed")

// agree notes how a version of what is wanted was received.
func (h *hub) agree(f filter, uris bool, refused *jsonrpc.Error, version uint64) {
	h.mu.Lock()
	h.agreed, h.uris, h.refused = f, uris, refused
	h.mu.Unlock()
	h.settle(version)
}

func (h *hub) settle(version uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if version > h.settled {
		h.settled = version
		close(h.turned)
		h.turned = make(chan struct{})
	}
}

// await waits until a version is settled.
func (h *hub) await(ctx context.Context, version uint64) error {
	for {
		h.mu.Lock()
		done, turned := h.settled >= version, h.turned
		h.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ctx.Done():
			return context.Cause(h.ctx)
		}
	}
}
