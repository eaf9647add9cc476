package stdio

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// spares are processes of model Pooled that were started beforehand. Nothing
// has been said to them yet, so each can become anybody's (R23).
type spares struct {
	waiting []Child
	on      bool // a first process has worked
	filling bool // a goroutine starts more
	pause   upstream.Backoff
}

// wanted is how many spares there shall be: a quarter of what may run, at
// least one.
func (p *Pool) wanted() int {
	if p.cfg.Model != Pooled {
		return 0
	}
	return max(1, p.cfg.MaxProcesses/4)
}

// takeSpare gives a spare with its slot, nil if there is none.
func (p *Pool) takeSpare() Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.spares.waiting) > 0 && !p.closed {
		c := p.spares.waiting[0]
		select {
		case <-c.Done():
			return nil // whoever watches it takes it out
		default:
		}
		p.spares.waiting = slices.Delete(p.spares.waiting, 0, 1)
		p.spares.pause.Worked() // it has lived long enough
		p.reserved++
		return c
	}
	return nil
}

// worked notes that a process has come up: from the first one on there are
// spares.
func (p *Pool) worked() {
	p.start.Worked()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spares.on = true
	p.refill()
}

// refill starts spares in the background until there are enough. They never
// take the room that somebody waits for. mu is held.
func (p *Pool) refill() {
	if p.closed || !p.spares.on || p.spares.filling || !p.lacking() {
		return
	}
	p.spares.filling = true
	p.gone.Go(p.fill)
}

// lacking reports whether one more spare is wanted and has room; mu is held.
func (p *Pool) lacking() bool {
	return len(p.spares.waiting) < p.wanted() && p.free() > 0 && len(p.waiting) == 0
}

func (p *Pool) fill() {
	for {
		if sleep(p.ctx, p.spares.pause.Wait()) != nil {
			break
		}
		p.mu.Lock()
		if p.closed || !p.lacking() {
			p.spares.filling = false
			p.mu.Unlock()
			return
		}
		p.reserved++
		p.mu.Unlock()
		ctx, stop := context.WithTimeout(p.ctx, p.cfg.Startup)
		c, err := p.cfg.Starter.Start(ctx, rand.Text())
		stop()
		if err != nil {
			p.release(nil)
			p.spares.pause.Failed()
			continue
		}
		p.keepSpare(c)
	}
	p.mu.Lock()
	p.spares.filling = false
	p.mu.Unlock()
}

// keepSpare puts a child where the next launch finds it, and watches it.
func (p *Pool) keepSpare(c Child) {
	p.mu.Lock()
	p.reserved--
	closed := p.closed
	if !closed {
		p.spares.waiting = append(p.spares.waiting, c)
		p.gone.Add(1)
	}
	p.mu.Unlock()
	if closed {
		c.Close()
		return
	}
	go func() {
		defer p.gone.Done()
		select {
		case <-c.Done():
		case <-p.ctx.Done(): // Shutdown sees to it
			return
		}
		if p.dropSpare(c) {
			exit := c.Exit()
			c.Close()
			p.spares.pause.Failed() // it may go on like this
			if h := p.cfg.Hooks.Ended; h != nil {
				h(EndSpare, exit)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.refill()
		}
	}()
}

// dropSpare takes one out that has ended; false when somebody has it.
func (p *Pool) dropSpare(c Child) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.spares.waiting {
		if other == c {
			p.spares.waiting = slices.Delete(p.spares.waiting, i, i+1)
			return true
		}
	}
	return false
}

// endSpares ends those that nobody has taken, and waits until they are gone.
func (p *Pool) endSpares(all []Child) {
	for _, c := range all {
		c.Stop()
	}
	for _, c := range all {
		wait(c.Done(), reapTime)
		c.Close()
		if h := p.cfg.Hooks.Ended; h != nil {
			h(EndShutdown, c.Exit())
		}
	}
}

// Spares is how many processes wait for their first client.
func (p *Pool) Spares() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.spares.waiting)
}

// lane chooses among the processes of one key where there may be several: an
// idle one, else a new one if that takes nobody's room, else the first (R23).
func (p *Pool) lane(key upstream.Key) upstream.Key {
	spread := key.Any
	key.Any = false
	if p.cfg.Model != Pooled || key.Lane != 0 || !spread {
		return key
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for next := key; ; next.Lane-- {
		in := p.instances[next]
		switch {
		case in == nil || in.over():
			if next.Lane == 0 || len(p.waiting) == 0 && (len(p.spares.waiting) > 0 || p.free() > 0) {
				return next
			}
			return key
		case in.quiet():
			return next
		case -next.Lane >= p.cfg.MaxProcesses:
			return key
		}
	}
}

// quiet reports whether a process has nothing to do, or is on its way; mu is
// held.
func (in *instance) quiet() bool {
	select {
	case <-in.ready:
		return in.proc.InFlight() == 0
	default:
		return true
	}
}
