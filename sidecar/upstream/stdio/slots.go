package stdio

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// waiter is a request that waits for room.
type waiter struct{ done chan error } // cap 1: nil when it has got a slot

// acquire takes a slot for one process, waiting for at most hold. First come,
// first served: somebody idle gives way, otherwise somebody has to end.
func (p *Pool) acquire(ctx context.Context, hold time.Duration) error {
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return upstream.ErrClosed
	case len(p.waiting) == 0 && p.free() > 0:
		p.reserved++
		p.mu.Unlock()
		return nil
	case len(p.waiting) >= p.cfg.MaxWaiting || hold <= 0:
		p.mu.Unlock()
		p.held(0, false)
		return upstream.ErrBusy
	}
	w := &waiter{done: make(chan error, 1)}
	p.waiting = append(p.waiting, w)
	victims := p.makeRoom()
	p.mu.Unlock()
	evict(victims)

	began := time.Now()
	t := time.NewTimer(hold)
	defer t.Stop()
	var err error
	select {
	case err = <-w.done:
	case <-t.C:
		err = p.giveUp(w, upstream.ErrBusy)
	case <-ctx.Done():
		err = p.giveUp(w, context.Cause(ctx))
	}
	p.held(time.Since(began), err == nil)
	return err
}

func (p *Pool) held(d time.Duration, served bool) {
	if p.cfg.Hooks.Held != nil {
		p.cfg.Hooks.Held(d, served)
	}
}

// giveUp leaves the queue, unless a slot came at the same moment.
func (p *Pool) giveUp(w *waiter, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.waiting {
		if other == w {
			p.waiting = slices.Delete(p.waiting, i, i+1)
			return err
		}
	}
	return <-w.done
}

// free counts slots; mu is held.
func (p *Pool) free() int {
	return p.cfg.MaxProcesses - len(p.procs) - p.reserved - len(p.spares.waiting)
}

// release gives a slot back that no process took, or that one has left.
func (p *Pool) release(proc *process) {
	p.mu.Lock()
	if proc == nil {
		p.reserved--
	} else {
		delete(p.procs, proc)
	}
	victims := p.makeRoom()
	p.refill()
	p.mu.Unlock()
	evict(victims)
}

// makeRoom serves waiters with what is free and chooses who gives way for the
// others. mu is held; the caller evicts after releasing it.
func (p *Pool) makeRoom() (victims []*process) {
	for len(p.waiting) > 0 && p.free() > 0 {
		w := p.waiting[0]
		p.waiting = slices.Delete(p.waiting, 0, 1)
		p.reserved++
		w.done <- nil
	}
	leaving := 0
	for proc := range p.procs {
		if proc.leaving {
			leaving++
		}
	}
	for range len(p.waiting) - leaving {
		proc, in := p.longestIdle()
		if proc == nil {
			p.lookAgain(in)
			break
		}
		proc.leaving = true
		victims = append(victims, proc)
	}
	return victims
}

// longestIdle is the process that gives way first, or how long until there may
// be one (0: none in sight). A process that nobody has used yet gives way at
// once. mu is held.
func (p *Pool) longestIdle() (victim *process, in time.Duration) {
	now := time.Now()
	var oldest time.Time
	for proc := range p.procs {
		since, idle := proc.idleSince()
		if !idle || proc.leaving {
			continue
		}
		if wait := since.Add(p.cfg.EvictAfter).Sub(now); proc.used && wait > 0 {
			if in == 0 || wait < in {
				in = wait
			}
			continue
		}
		if victim == nil || since.Before(oldest) {
			victim, oldest = proc, since
		}
	}
	return victim, in
}

// lookAgain arranges for the next search; mu is held.
func (p *Pool) lookAgain(in time.Duration) {
	if p.retry != nil {
		p.retry.Stop()
		p.retry = nil
	}
	if in <= 0 || in > time.Second {
		in = time.Second // a call that ends now may free somebody sooner
	}
	p.retry = time.AfterFunc(in, func() {
		p.mu.Lock()
		var victims []*process
		if !p.closed && len(p.waiting) > 0 {
			victims = p.makeRoom()
		}
		p.mu.Unlock()
		evict(victims)
	})
}

func evict(victims []*process) {
	for _, proc := range victims {
		proc.finish(EndEvicted, upstream.ErrEvicted)
	}
}
