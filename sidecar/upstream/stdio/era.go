package stdio

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Bounds of the time that the second of two processes gets to answer when the
// first one has: as long again as that took, within these.
const (
	leastGrace = time.Second
	mostGrace  = 5 * time.Second
)

// errFoundOut ends the process that is not needed when the era is known.
var errFoundOut = errors.New("the workload's era has been found out")

// Era is how the workload is spoken to. Until that is known it starts
// processes to find out, and waits up to Hold for an agent that is not there.
func (p *Pool) Era(ctx context.Context) (upstream.Era, error) {
	if era := p.era.Known(); era != "" {
		return era, nil
	}
	deadline := time.Now().Add(p.cfg.Hold)
	for {
		era, err := p.era.Era(ctx)
		if err == nil || ctx.Err() != nil || !away(err) || time.Until(deadline) <= 0 {
			return era, err
		}
		if cause := sleep(ctx, min(retryEvery, time.Until(deadline))); cause != nil {
			return "", cause
		}
	}
}

// away: nothing could be asked yet.
func away(err error) bool {
	var h *upstream.HandshakeError
	return errors.As(err, &h) && h.Reason == config.ReasonAgentUnreachable
}

// Handshake says who the workload is, and finds out its era first. It keeps
// what it has started for that: the conversation, or the process that
// anonymous clients without capabilities share. It does not wait for room or
// for a workload that is not there.
func (p *Pool) Handshake(ctx context.Context) (info upstream.Info, err error) {
	defer func() {
		if err == nil {
			p.stuck.Store(false)
		}
	}()
	era, err := p.era.Era(ctx)
	if err != nil {
		return upstream.Info{}, err
	}
	startup := p.cfg.Startup
	if deadline, ok := ctx.Deadline(); ok {
		// The process's clock first: it knows what went wrong.
		startup = min(startup, time.Until(deadline)*9/10)
	}
	if !era.Modern() {
		return p.greet(ctx, startup)
	}
	d, err := p.talk.meet(ctx, startup)
	if err != nil {
		return upstream.Info{}, err
	}
	return d.Info(era), nil
}

// findEra asks two processes at the same time, one with server/discover and one
// with initialize (P19, B1.4). What answers is kept.
func (p *Pool) findEra() (upstream.Era, error) {
	if p.cfg.MaxProcesses < 2 {
		return p.findAlone()
	}
	f := &finding{pool: p, began: time.Now(), probed: make(chan probed, 1), shaken: make(chan error, 1)}
	f.start()
	return f.finish()
}

// findAlone asks one process after the other, where there is no room for two.
// A workload that speaks both eras then counts as modern.
func (p *Pool) findAlone() (upstream.Era, error) {
	proc, err := p.probe(p.ctx)
	switch {
	case err == nil:
		p.converse(proc)
		return upstream.EraModern, nil
	case modernFault(err):
		return "", explainProbe(err)
	}
	p.vacant()
	if _, err := p.greet(p.ctx, p.cfg.Startup); err != nil {
		return "", err
	}
	return upstream.EraLegacy, nil
}

// vacant waits for the room of a process that is being ended.
func (p *Pool) vacant() {
	if p.acquire(p.ctx, p.cfg.Startup) == nil {
		p.release(nil)
	}
}

// probe starts a process and asks it who it is, as the modern era does.
func (p *Pool) probe(ctx context.Context) (*process, error) {
	return p.launch(ctx, 0, launch{
		handler: upstream.ByCall{},
		ended:   func(error) {},
		shared:  true,
		startup: p.cfg.Startup,
		modern:  true,
		probe:   true,
	})
}

type probed struct {
	proc *process
	err  error
}

// finding is one search with two processes.
type finding struct {
	pool   *Pool
	began  time.Time
	probed chan probed
	shaken chan error

	endProbe, endShake context.CancelCauseFunc
}

func (f *finding) start() {
	p := f.pool
	probeLife, endProbe := context.WithCancelCause(p.ctx)
	shakeLife, endShake := context.WithCancelCause(p.ctx)
	f.endProbe, f.endShake = endProbe, endShake
	go func() {
		proc, err := p.probe(probeLife)
		f.probed <- probed{proc, err}
	}()
	go func() { f.shaken <- p.shake(shakeLife) }()
}

// shake makes the process that the key of anonymous clients shares, within
// life.
func (p *Pool) shake(life context.Context) error {
	in, begin, err := p.find(p.first())
	if err != nil {
		return err
	}
	if begin {
		p.begin(life, p.first(), in, 0, p.cfg.Startup)
	}
	<-in.ready
	return in.err
}

// finish waits for both answers; the second one no longer than it is worth
// waiting for.
func (f *finding) finish() (upstream.Era, error) {
	var (
		probe         probed
		shake         error
		asked, shaken bool
		late          <-chan time.Time
	)
	grace := func() {
		t := time.NewTimer(min(max(time.Since(f.began), leastGrace), mostGrace))
		late = t.C
	}
	for !asked || !shaken {
		select {
		case probe = <-f.probed:
			if asked = true; probe.err == nil && !shaken {
				grace()
			}
		case shake = <-f.shaken:
			if shaken = true; shake == nil && !asked {
				grace()
			}
		case <-late:
			f.endProbe(errFoundOut)
			f.endShake(errFoundOut)
		}
	}
	defer f.endProbe(errFoundOut)
	switch {
	case probe.err == nil:
		f.pool.converse(probe.proc)
		if shake != nil {
			return upstream.EraModern, nil
		}
		f.pool.dismiss()
		return upstream.EraDual, nil
	case shake == nil:
		return upstream.EraLegacy, nil
	case modernFault(probe.err):
		return "", explainProbe(probe.err)
	}
	return "", shake
}

// dismiss ends the process that initialize was tried on.
func (p *Pool) dismiss() {
	p.mu.Lock()
	in := p.instances[p.first()]
	delete(p.instances, p.first())
	p.mu.Unlock()
	if in != nil {
		in.proc.finish(EndProbe, errFoundOut)
	}
}

func modernFault(err error) bool { return errors.Is(err, upstream.ErrNoRevision) }

func explainProbe(err error) error {
	return &upstream.HandshakeError{Reason: config.ReasonBadHandshake, Err: err}
}
