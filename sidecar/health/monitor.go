package health

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Workload is what the monitor asks. Both methods honour ctx and are never
// called concurrently.
type Workload interface {
	// Handshake speaks the protocol once, as a client would. An error that
	// says more than "no" is a *Failure.
	Handshake(ctx context.Context) (Peer, error)
	// Check looks cheaply whether what the handshake found is still there.
	Check(ctx context.Context) error
}

// Peer is who answered a handshake.
type Peer struct{ Era, Revision, Name, Version string }

// Failure is a handshake or check that failed.
type Failure struct {
	// Reason is one of config's reasons.
	Reason string
	// ExitCode is set when the command ended.
	ExitCode *int
	// StderrTail are the last lines of a process that failed. They are the
	// workload's words: shown by /status and nowhere else (O18).
	StderrTail []string
	// Err tells people more; it is logged.
	Err error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Err) }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Clocks of a Monitor. NewClocks fills them in.
type Clocks struct {
	// Handshake and Check bound one attempt each.
	Handshake, Check time.Duration
	// Every is the time between checks.
	Every time.Duration
	// First is the time before the second handshake attempt; it doubles up to
	// Most (attempts that cost a process) or Quick (the workload is not even
	// there, so asking is cheap and coming back must be noticed soon).
	First, Quick, Most time.Duration
	// Settled is how long the workload must stay up for the backoff to be
	// forgotten.
	Settled time.Duration
	// Suspended is how long to wait, after Suspend, for a workload that does
	// not go away.
	Suspended time.Duration
}

// NewClocks returns the clocks for a workload that may take startup for one
// handshake.
func NewClocks(startup time.Duration) Clocks {
	return Clocks{
		Handshake: startup,
		Check:     2 * time.Second,
		Every:     time.Second,
		First:     100 * time.Millisecond,
		Quick:     time.Second,
		Most:      15 * time.Second,
		Settled:   10 * time.Second,
		Suspended: 20 * time.Second,
	}
}

// Monitor watches one workload. Its fields are read-only once Run is called;
// its methods may be called concurrently.
type Monitor struct {
	Workload Workload
	Clocks   Clocks
	// Exposed asks, once after each handshake, whether the workload can be
	// reached past the sidecar (O10). It may be nil.
	Exposed func(ctx context.Context) bool
	// Life names the present life of the workload, cheaply; another name means
	// that it was restarted, however quickly. It may be nil.
	Life func() string
	// Changed is told every new status, from one goroutine at a time, with the
	// error behind it or nil. It must not block and may be nil.
	Changed func(s config.WorkloadStatus, err error)

	mu     sync.Mutex
	status config.WorkloadStatus
	// suspend is closed by Suspend, and forgotten once it is taken up.
	suspend   chan struct{}
	suspended bool
	life      string // when it was suspended
	// told serializes Changed; it is locked before mu.
	told sync.Mutex
}

// Status is where the workload stands.
func (m *Monitor) Status() config.WorkloadStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status.State == "" {
		return config.WorkloadStatus{State: config.WorkloadStarting}
	}
	return m.status
}

// Up reports whether the last handshake succeeded and still holds.
func (m *Monitor) Up() bool { return m.Status().State == config.WorkloadUp }

// Suspend declares the workload down because it is about to be stopped (O3):
// not ready at once, and no handshake before it has gone away, or has not for
// as long as a restart would take.
func (m *Monitor) Suspend() {
	life := m.alive()
	m.mu.Lock()
	if m.suspend == nil {
		m.suspend = make(chan struct{})
	}
	if !m.suspended {
		m.suspended, m.life = true, life
		close(m.suspend)
	}
	m.mu.Unlock()
	m.set(config.WorkloadStatus{State: config.WorkloadStarting}, nil)
}

// suspension is closed while a Suspend waits to be taken up.
func (m *Monitor) suspension() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.suspend == nil {
		m.suspend = make(chan struct{})
	}
	return m.suspend
}

// takeSuspension reports whether there was a Suspend, and takes it up; life is
// the one that is being ended.
func (m *Monitor) takeSuspension() (life string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.suspended {
		return "", false
	}
	m.suspended, m.suspend = false, nil
	return m.life, true
}

func (m *Monitor) alive() string {
	if m.Life == nil {
		return ""
	}
	return m.Life()
}

// Run watches until ctx ends.
func (m *Monitor) Run(ctx context.Context) {
	wait := m.Clocks.First
	for ctx.Err() == nil {
		if life, ok := m.takeSuspension(); ok {
			m.ride(ctx, life)
			continue
		}
		begun, life := time.Now(), m.alive()
		if m.handshake(ctx) {
			up := time.Now()
			if suspended := m.watch(ctx, life); suspended || time.Since(up) >= m.Clocks.Settled {
				wait = m.Clocks.First
			}
		}
		// An attempt that took its time has waited already.
		pause(ctx, jitter(wait)-time.Since(begun))
		wait = m.longer(wait)
	}
}

// longer doubles the backoff within the bound for the present reason.
func (m *Monitor) longer(wait time.Duration) time.Duration {
	most := m.Clocks.Most
	switch m.Status().Reason {
	case config.ReasonAgentUnreachable, config.ReasonRefused:
		most = m.Clocks.Quick
	}
	return min(2*wait, most)
}

// handshake tries once and reports whether the workload is up.
func (m *Monitor) handshake(ctx context.Context) bool {
	suspended := m.suspension()
	attempt, cancel := context.WithTimeout(ctx, m.Clocks.Handshake)
	defer cancel()
	peer, err := m.Workload.Handshake(attempt)
	if ctx.Err() != nil {
		return false
	}
	select {
	case <-suspended:
		return false // the answer is from before
	default:
	}
	if err != nil {
		reason := config.ReasonBadHandshake
		if errors.Is(err, context.DeadlineExceeded) {
			reason = config.ReasonNoAnswer
		}
		m.down(reason, err)
		return false
	}
	status := config.WorkloadStatus{
		State:    config.WorkloadUp,
		Era:      peer.Era,
		Revision: clip(peer.Revision),
		Name:     clip(peer.Name),
		Version:  clip(peer.Version),
	}
	m.set(status, nil)
	if m.Exposed != nil && m.Exposed(ctx) {
		status.Exposed = true
		m.mu.Lock()
		still := m.status.State == config.WorkloadUp
		m.mu.Unlock()
		if still {
			m.set(status, nil)
		}
	}
	return true
}

// watch returns when the workload is no longer up, or is not the one that the
// handshake was with, or ctx ends. It reports whether that is because of
// Suspend.
func (m *Monitor) watch(ctx context.Context, life string) (suspended bool) {
	suspension := m.suspension()
	ticker := time.NewTicker(m.Clocks.Every)
	defer ticker.Stop()
	slow := 0
	for {
		select {
		case <-ctx.Done():
			return false
		case <-suspension:
			return true
		case <-ticker.C:
		}
		err := m.check(ctx)
		switch {
		case err == nil && m.alive() != life:
			return false // up as before, for all we know: ask again
		case err == nil:
			slow = 0
		case ctx.Err() != nil:
			return false
		case errors.Is(err, context.DeadlineExceeded) && slow == 0:
			// One slow answer is a busy machine; two are a fault.
			slow++
		default:
			m.down(config.ReasonNoAnswer, err)
			return false
		}
	}
}

// ride waits for a workload that is being stopped to go away, and no longer
// than a restart would take.
func (m *Monitor) ride(ctx context.Context, life string) {
	// A handshake may have finished at the same moment as the Suspend.
	m.set(config.WorkloadStatus{State: config.WorkloadStarting}, nil)
	ctx, cancel := context.WithTimeout(ctx, m.Clocks.Suspended)
	defer cancel()
	for ctx.Err() == nil {
		// A container may be gone and back within a second.
		pause(ctx, m.Clocks.Every/10)
		if m.alive() != life || m.check(ctx) != nil {
			return
		}
	}
}

func (m *Monitor) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.Clocks.Check)
	defer cancel()
	return m.Workload.Check(ctx)
}

// down notes a failure; reason is used where err does not name one.
func (m *Monitor) down(reason string, err error) {
	s := config.WorkloadStatus{State: config.WorkloadFailed, Reason: reason}
	var f *Failure
	if errors.As(err, &f) {
		s.Reason, s.ExitCode, s.StderrTail = f.Reason, f.ExitCode, f.StderrTail
	}
	m.set(s, err)
}

func (m *Monitor) set(s config.WorkloadStatus, err error) {
	m.told.Lock()
	defer m.told.Unlock()
	m.mu.Lock()
	was := m.status
	m.status = s
	m.mu.Unlock()
	if m.Changed != nil && !same(was, s) {
		m.Changed(s, err)
	}
}

// same reports whether two statuses say the same to whoever is told: the last
// words of one more process that failed like the one before are no news.
func same(a, b config.WorkloadStatus) bool {
	code := func(s config.WorkloadStatus) int {
		if s.ExitCode == nil {
			return -1
		}
		return *s.ExitCode
	}
	return a.State == b.State && a.Reason == b.Reason && code(a) == code(b) && a.Exposed == b.Exposed &&
		a.Era == b.Era && a.Revision == b.Revision && a.Name == b.Name && a.Version == b.Version
}

// jitter spreads d by a fifth either way, so that pods of a server do not
// knock in step.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)*0.4*float64(d))
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// clip bounds the workload's words.
func clip(s string) string {
	const most = 128
	if len(s) <= most {
		return s
	}
	return s[:most]
}
