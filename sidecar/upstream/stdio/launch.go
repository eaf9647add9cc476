package stdio

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// errEnded is the cause of a process that ended by itself.
var errEnded = errors.New("the process ended")

// retryEvery spaces attempts to reach an agent that is not there.
const retryEvery = 250 * time.Millisecond

// launch says what to start.
type launch struct {
	params    []byte
	handler   peer.Handler
	listening func() bool
	ended     func(error)
	gone      func() // told of any end, the owner's own too; nil for nobody
	shared    bool
	startup   time.Duration // bounds the handshake
	// modern: nothing is agreed on, the process is asked who it is (B1.2).
	modern bool
	// probe: that it cannot say so is an answer and no failure (P19).
	probe bool
}

// launch gets a slot, starts a process or takes a spare, and shakes hands. hold bounds the
// waiting for room, for the pause after failed starts and for an agent that is
// not there; 0 means not to wait at all.
func (p *Pool) launch(ctx context.Context, hold time.Duration, l launch) (*process, error) {
	deadline := time.Now().Add(hold)
	if child := p.takeSpare(); child != nil {
		proc, err := p.launched(ctx, child, l)
		if !spent(err) {
			return proc, err
		}
		// It was at its end when it was taken: that says nothing of the next.
	}
	if err := p.acquire(ctx, hold); err != nil {
		return nil, err
	}
	if hold > 0 {
		pause := p.start.Wait()
		if l.shared {
			pause = max(pause, p.crash.Wait())
		}
		if err := sleep(ctx, min(pause, time.Until(deadline))); err != nil {
			p.release(nil)
			return nil, err
		}
	}
	child, err := p.spawn(ctx, deadline)
	if err != nil {
		p.release(nil)
		p.started(0, err)
		return nil, err
	}
	return p.launched(ctx, child, l)
}

// launched makes a Leg of a child and reports how long that took.
func (p *Pool) launched(ctx context.Context, child Child, l launch) (*process, error) {
	began := time.Now()
	proc, err := p.adopt(ctx, child, l)
	if !l.probe || err == nil {
		p.started(time.Since(began), err)
	}
	return proc, err
}

// spent reports a process that ended before it was asked anything.
func spent(err error) bool {
	var h *upstream.HandshakeError
	return errors.As(err, &h) && h.Reason == config.ReasonExited
}

func (p *Pool) started(took time.Duration, err error) {
	if h := p.cfg.Hooks.Started; h != nil {
		h(took, err)
	}
}

// spawn starts a child, waiting until deadline for an agent that is being
// restarted (P1).
func (p *Pool) spawn(ctx context.Context, deadline time.Time) (Child, error) {
	for {
		child, err := p.cfg.Starter.Start(ctx, rand.Text())
		if err == nil {
			return child, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		switch agent.CodeOf(err) {
		case agent.CodeUnreachable, agent.CodeStopping, agent.CodeLimit, agent.CodeTimeout:
			if left := time.Until(deadline); left > 0 {
				if cause := sleep(ctx, min(left, retryEvery)); cause != nil {
					return nil, cause
				}
				continue
			}
		default:
			p.start.Failed()
		}
		return nil, explainStart(err)
	}
}

// adopt makes a Leg of a child. From here on the process frees its slot by
// itself.
func (p *Pool) adopt(ctx context.Context, child Child, l launch) (*process, error) {
	now := time.Now()
	proc := &process{pool: p, child: child, shared: l.shared, born: now, touched: now, listening: l.listening, gone: l.gone}
	proc.link = peer.NewStdio(ndjson.Config{In: child.Stdin(), Out: listener{child.Stdout(), &proc.pulse.said}, MaxMessageBytes: p.cfg.MaxMessageBytes})
	talk := newTalk(p.cfg.Hooks.Peer)
	proc.Peer = peer.New(proc.link, l.config(peer.Config{Handler: l.handler, Hooks: talk.hooks(), Ended: proc.peerEnded, Budget: p.cfg.Budget}))

	p.mu.Lock()
	p.reserved--
	if p.closed {
		p.mu.Unlock()
		proc.Peer.Close(upstream.ErrClosed)
		child.Close()
		return nil, upstream.ErrClosed
	}
	p.procs[proc] = struct{}{}
	proc.idle = time.AfterFunc(p.cfg.Idle, proc.watchIdle)
	p.gone.Add(1)
	p.mu.Unlock()
	go proc.watch()

	shake, stop := context.WithTimeoutCause(ctx, l.startup, errSilent)
	defer stop()
	var err error
	var met greeting
	if l.modern {
		met.discovered, err = upstream.Discover(shake, proc.Peer)
	} else {
		met.init, err = proc.Peer.Initialize(shake, l.params, p.cfg.Revision.Accept)
	}
	if err != nil {
		if l.probe {
			proc.finish(EndProbe, err)
			return nil, err
		}
		proc.finish(EndStartup, err)
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		p.start.Failed()
		return nil, p.loop.failed(explainHandshake(err, proc, talk))
	}
	if l.modern {
		p.start.Worked()
	} else {
		p.worked()
	}
	if !proc.handOver(met, l.ended) {
		return nil, explainHandshake(proc.Peer.Err(), proc, talk)
	}
	if l.shared {
		proc.pulse.watch(proc)
	}
	return proc, nil
}

// config is c for what is started.
func (l *launch) config(c peer.Config) peer.Config {
	if l.modern {
		c.Stateless, c.MaxPending = true, maxTalks
	}
	return c
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
