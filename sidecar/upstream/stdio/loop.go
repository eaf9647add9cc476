package stdio

import (
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// endsForLoop is how many processes must have ended by themselves, one after
// another, for the workload to count as crash looping.
const endsForLoop = 3

// errLooping: whatever is started ends soon.
var errLooping = errors.New("processes of the workload end by themselves, again and again")

// loop counts processes that ended by themselves while nothing was asked of
// them: before their handshake, or young. What a client's request brings down
// says nothing of the workload as a whole. The zero value is ready.
type loop struct {
	mu   sync.Mutex
	ends int
	exit agent.Exit
}

// failed is a handshake that failed as it is reported.
func (l *loop) failed(err error) error {
	var h *upstream.HandshakeError
	if !errors.As(err, &h) || h.Reason != config.ReasonExited {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends++
	l.exit = agent.Exit{Code: -1, StderrTail: h.StderrTail}
	if h.ExitCode != nil {
		l.exit.Code = *h.ExitCode
	}
	if l.ends < endsForLoop {
		return err
	}
	out := *h
	out.Reason = config.ReasonCrashLooping
	return &out
}

// ended notes a process that was up and has ended by itself.
func (l *loop) ended(age time.Duration, busy bool, exit agent.Exit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case busy:
	case age >= young:
		l.ends = 0
	default:
		l.ends++
		l.exit = exit
	}
}

// settled notes that a process has lived long enough.
func (l *loop) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = 0
}

// err says so while the workload is crash looping.
func (l *loop) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends < endsForLoop {
		return nil
	}
	out := &upstream.HandshakeError{Reason: config.ReasonCrashLooping, StderrTail: l.exit.StderrTail, Err: errLooping}
	if l.exit.Code >= 0 {
		code := l.exit.Code
		out.ExitCode = &code
	}
	return out
}

// looping says whether the workload is crash looping: not while there is a
// process that has lived for a while.
func (p *Pool) looping() error {
	err := p.loop.err()
	if err != nil && p.grown() {
		p.loop.settled()
		return nil
	}
	return err
}

// grown reports whether a process has lived for a while.
func (p *Pool) grown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for proc := range p.procs {
		if proc.met() && !proc.leaving && time.Since(proc.born) >= young {
			return true
		}
	}
	return false
}

// outlast waits until a process is old enough to say that the crash loop is
// over, or ends.
func (p *Pool) outlast(proc *process) error {
	if p.loop.err() == nil {
		return nil
	}
	t := time.NewTimer(time.Until(proc.born.Add(young)))
	defer t.Stop()
	select {
	case <-proc.Peer.Done():
		return p.loop.err()
	case <-t.C:
		p.loop.settled()
		return nil
	case <-p.ctx.Done():
		return upstream.ErrClosed
	}
}
