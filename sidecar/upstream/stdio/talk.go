package stdio

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// maxTalks bounds the requests in flight on the one process of a modern
// workload, subscriptions included. The front bounds both earlier.
const maxTalks = 16 << 10

// errGone: the process of the conversation has ended and no other is there yet.
var errGone = errors.New("the process of the workload has ended")

// talker is the conversation of a pool with a modern workload: one process
// after the other, each for everybody (B3.5, W18.9).
type talker struct {
	pool  *Pool
	known atomic.Pointer[upstream.Discovered]
}

var _ upstream.Conversation = (*talker)(nil)

// Conversation is the one with a workload of the modern era. It starts the
// process if none is there, and waits up to Hold for that.
func (p *Pool) Conversation(ctx context.Context) (upstream.Conversation, error) {
	if p.talk.known.Load() != nil {
		return &p.talk, nil // Call starts what it needs
	}
	if era, err := p.Era(ctx); err != nil {
		return nil, err
	} else if !era.Modern() {
		return nil, upstream.ErrOtherEra
	}
	if _, err := p.speaker(ctx, p.cfg.Hold, p.cfg.Startup); err != nil {
		return nil, err
	}
	return &p.talk, nil
}

// Discovered implements upstream.Conversation.
func (t *talker) Discovered() *upstream.Discovered { return t.known.Load() }

// Headers implements upstream.Conversation.
func (t *talker) Headers() bool { return false }

// Call implements upstream.Conversation. What certainly did not reach a process
// that has ended is sent to the next one.
func (t *talker) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	r.Revision = t.known.Load().Revision
	for again := true; ; again = false {
		proc, err := t.pool.speaker(ctx, t.pool.cfg.Hold, t.pool.cfg.Startup)
		if err != nil {
			return peer.Answer{}, err
		}
		answer, err := proc.Call(ctx, r)
		var f *peer.Failure
		if again && errors.As(err, &f) && f.NotDelivered && f.Reason == peer.Ended && ctx.Err() == nil {
			continue
		}
		return answer, err
	}
}

// Discover implements upstream.Conversation.
func (t *talker) Discover(ctx context.Context) (*upstream.Discovered, error) {
	return t.meet(ctx, t.pool.cfg.Startup)
}

// meet asks the process who it is, after starting it if need be. It does not
// wait for room or for a workload that is not there.
func (t *talker) meet(ctx context.Context, startup time.Duration) (*upstream.Discovered, error) {
	proc, err := t.pool.speaker(ctx, 0, startup)
	if err != nil {
		return nil, err
	}
	ask, stop := context.WithTimeoutCause(ctx, startup, errSilent)
	defer stop()
	d, err := upstream.Discover(ask, proc)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if errors.Is(err, upstream.ErrNotModern) {
			t.pool.era.Doubt() // B1.5
		}
		return nil, explainHandshake(err, proc, newTalk(peer.Hooks{}))
	}
	t.known.Store(d)
	return d, nil
}

// speaker is the process of the conversation, started if there is none.
func (p *Pool) speaker(ctx context.Context, hold, startup time.Duration) (*process, error) {
	for {
		in, begin, err := p.findSpeaker()
		if err != nil {
			return nil, err
		}
		if begin {
			go p.beginSpeaker(in, hold, startup) // outlives a caller that goes away
		}
		select {
		case <-in.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if in.err != nil {
			return nil, in.err
		}
		if in.proc.Err() == nil {
			return in.proc, nil
		}
	}
}

func (p *Pool) findSpeaker() (in *instance, begin bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, false, upstream.ErrClosed
	case p.modern != nil && !p.modern.over():
		return p.modern, false, nil
	}
	p.modern = &instance{ready: make(chan struct{})}
	return p.modern, true, nil
}

func (p *Pool) beginSpeaker(in *instance, hold, startup time.Duration) {
	ctx, stop := context.WithTimeout(p.ctx, hold+2*startup)
	defer stop()
	proc, err := p.launch(ctx, hold, launch{
		handler: upstream.ByCall{},
		ended:   func(error) {},
		shared:  true,
		startup: startup,
		modern:  true,
	})
	if errors.Is(err, upstream.ErrNotModern) {
		p.era.Doubt() // B1.5
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(in, proc, err)
}

// converse makes a process that has answered the probe the conversation's.
func (p *Pool) converse(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modern = &instance{ready: make(chan struct{})}
	p.keep(p.modern, proc, nil)
}

// keep ends the attempt to start the process of the conversation. That one is
// never idle and never gives way: it is everybody's. mu is held.
func (p *Pool) keep(in *instance, proc *process, err error) {
	in.proc, in.err = proc, err
	if err == nil {
		proc.pins++
		p.talk.known.Store(proc.discovered)
	}
	close(in.ready)
}

// mute says why the conversation has no process at the moment, nil if it has
// one or never had: readiness follows (B3.8).
func (p *Pool) mute() error {
	p.mu.Lock()
	in := p.modern
	gone := in != nil && in.over()
	p.mu.Unlock()
	if !gone || in.proc == nil {
		return nil
	}
	out := &upstream.HandshakeError{Reason: config.ReasonExited, Err: errGone}
	exit := in.proc.exit()
	out.StderrTail = exit.StderrTail
	if exit.Err == nil && exit.Code >= 0 {
		out.ExitCode = &exit.Code
	}
	return out
}
