package stdio

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Clocks of a process's end.
const (
	// drainTime is how long output is still read after the process has ended, if
	// somebody holds it open. It is long: an answer may be in it, and a machine
	// under load reads late.
	drainTime = 5 * time.Second
	// lookEvery is how often it is looked whether a client that listened still
	// does: from when it does not the process is idle.
	lookEvery = 10 * time.Second
	// reapTime is how long the agent may take beyond its own clocks.
	reapTime = 30 * time.Second
)

// process is a child with its peer: the Leg of this package.
type process struct {
	*peer.Peer
	pool  *Pool
	child Child
	link  *peer.Stdio
	greeting
	level upstream.Level

	// Guarded by pool.mu.
	leaving   bool // somebody is ending it
	used      bool // it has served somebody
	pins      int
	touched   time.Time
	listening func() bool
	heard     bool // a client was listening at the last look

	why   End // "" while nobody has ended it
	ended func(error)
	gone  func()
	over  bool // ended was due, or came too early to be known
	idle  *time.Timer

	shared     bool
	born, died time.Time
	asked      atomic.Int32 // calls of clients in flight
	called     atomic.Bool  // there was one
	pulse      pulse
	busy       bool // some were when it ended
}

// greeting is what the process said of itself in its handshake: one of the two.
type greeting struct {
	init       *peer.Init
	discovered *upstream.Discovered
}

func (g greeting) met() bool { return g.init != nil || g.discovered != nil }

var _ upstream.Leg = (*process)(nil)

// Init implements upstream.Leg.
func (p *process) Init() *peer.Init { return p.init }

// Level implements upstream.Leg.
func (p *process) Level() *upstream.Level { return &p.level }

// Call implements upstream.Leg.
func (p *process) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	if !p.called.Load() {
		p.called.Store(true)
		p.touch() // from now on the peer knows when the last call ended
	}
	p.asked.Add(1)
	p.pulse.begun()
	defer p.asked.Add(-1)
	return p.Peer.Call(ctx, r)
}

// Notify implements upstream.Leg.
func (p *process) Notify(ctx context.Context, method string, params []byte) error {
	p.touch()
	return p.Peer.Notify(ctx, method, params)
}

// Close implements upstream.Leg.
func (p *process) Close(cause error) { p.finish(EndSession, cause) }

func (p *process) touch() {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.used, p.touched = true, time.Now()
}

// idleSince tells since when nothing has happened; false while something is in
// flight, held, or a client listens. pool.mu is held.
func (p *process) idleSince() (since time.Time, idle bool) {
	at, quiet := p.Peer.Idle()
	if !quiet || p.pins > 0 {
		return time.Time{}, false
	}
	if p.listening != nil {
		now := p.listening()
		if now || p.heard { // nobody knows when it stopped: not before the last look
			p.touched = time.Now()
		}
		if p.heard = now; now {
			return time.Time{}, false
		}
	}
	if at.Before(p.touched) {
		at = p.touched
	}
	return at, true
}

// watchIdle ends the process when its idle clock has run out (P15), else sets
// the clock again.
func (p *process) watchIdle() {
	p.pool.mu.Lock()
	since, idle := p.idleSince()
	left := p.pool.cfg.Idle
	switch {
	case idle:
		left = time.Until(since.Add(p.pool.cfg.Idle))
	case p.heard:
		left = min(left, lookEvery)
	}
	over := left <= 0 && !p.leaving
	if over {
		p.leaving = true
	} else if !p.leaving {
		p.idle.Reset(max(left, time.Millisecond))
	}
	p.pool.mu.Unlock()
	if over {
		p.finish(EndIdle, upstream.ErrIdle)
	}
}

// quiet returns when nothing is in flight or ctx ends (C11).
func (p *process) quiet(ctx context.Context) {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		if _, idle := p.Peer.Idle(); idle || p.Peer.Err() != nil {
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// finish begins the end from our side: whatever is in flight is resolved, the
// input is closed after what is queued, and the agent's clocks run. It does
// not wait.
func (p *process) finish(why End, cause error) {
	if p.begin(why) {
		p.Peer.End(cause)
		p.stop()
	}
}

// begin notes why the process ends; only the first reason counts.
func (p *process) begin(why End) bool {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.why != "" {
		return false
	}
	p.why, p.leaving = why, true
	p.died, p.busy = time.Now(), p.asked.Load() > 0
	return true
}

func (p *process) stop() {
	p.link.CloseInput()
	p.child.Stop()
}

// peerEnded is the peer's Ended: calls are resolved after the owner knows, so
// that a client that is told of a crash finds its session ended (B3.8).
func (p *process) peerEnded(f *peer.Failure) {
	p.pool.mu.Lock()
	why := EndCrashed
	if !p.met() {
		why = EndStartup
	}
	p.pool.mu.Unlock()
	if p.begin(why) {
		p.stop()
		if why == EndCrashed {
			p.judge()
		}
	}
	p.tellEnded(f)
}

// watch sees the process through to its end and frees its slot.
func (p *process) watch() {
	defer p.pool.gone.Done()
	select {
	case <-p.Peer.Done():
	case <-p.child.Done():
		// What it wrote before is still to be read.
		wait(p.Peer.Done(), drainTime)
	}
	p.Peer.Ended(errEnded) // nothing happens if it has ended
	wait(p.child.Done(), reapTime)
	p.link.Close(nil)
	p.child.Close()
	p.idle.Stop()
	p.pulse.end()
	p.pool.release(p)
	p.pool.mu.Lock()
	why, age, busy := p.why, p.died.Sub(p.born), p.busy
	p.pool.mu.Unlock()
	if why == EndCrashed {
		p.pool.loop.ended(age, busy, p.exit())
	}
	if h := p.pool.cfg.Hooks.Ended; h != nil {
		h(why, p.exit())
	}
}

// young is the age below which the end of a shared process makes the next
// start wait.
const young = 10 * time.Second

// judge spaces the restarts of a shared process that keeps dying. Processes of
// sessions are started at their clients' pace anyway.
func (p *process) judge() {
	switch {
	case !p.shared:
	case time.Since(p.born) < young:
		p.pool.crash.Failed()
	default:
		p.pool.crash.Worked()
	}
}

// tellEnded tells the owner, unless it was the owner who ended it.
func (p *process) tellEnded(cause error) {
	p.pool.mu.Lock()
	p.over = true
	ended, why, gone := p.ended, p.why, p.gone
	if !p.met() {
		gone = nil // nobody has it
	}
	p.pool.mu.Unlock()
	if ended != nil && why != EndSession {
		ended(cause)
	}
	if gone != nil {
		gone()
	}
}

// handOver gives the process to its owner; false when it has ended meanwhile.
func (p *process) handOver(met greeting, ended func(error)) bool {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.greeting, p.ended = met, ended
	p.used, p.touched = !p.shared, time.Now()
	return !p.over
}

func (p *process) exit() agent.Exit {
	select {
	case <-p.child.Done():
		return p.child.Exit()
	default:
		return agent.Exit{Code: -1}
	}
}

func wait(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
