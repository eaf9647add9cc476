package health

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a workload whose answers change by the clock of the test.
type fake struct {
	mu        sync.Mutex
	handshake func() (Peer, error)
	check     error
	took      time.Duration // by each handshake
	life      string
	attempts  []time.Time
}

func (f *fake) Handshake(ctx context.Context) (Peer, error) {
	f.mu.Lock()
	f.attempts = append(f.attempts, time.Now())
	took, answer := f.took, f.handshake
	f.mu.Unlock()
	pause(ctx, took)
	if ctx.Err() != nil {
		return Peer{}, ctx.Err()
	}
	return answer()
}

func (f *fake) Check(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.check
}

func (f *fake) Life() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.life
}

func (f *fake) alter(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func up() (Peer, error) {
	return Peer{Era: "legacy", Revision: "2025-06-18", Name: "demo", Version: "1"}, nil
}

func fails(reason string) func() (Peer, error) {
	return func() (Peer, error) { return Peer{}, &Failure{Reason: reason, Err: errors.New("why")} }
}

// world runs a monitor in virtual time and writes down what it says and when.
type world struct {
	f *fake
	*Monitor
	begun time.Time
	log   []string
}

func inWorld(t *testing.T, f *fake, play func(t *testing.T, w *world)) []string {
	t.Helper()
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = &world{f: f, begun: time.Now()}
		w.Monitor = &Monitor{Workload: f, Clocks: NewClocks(30 * time.Second), Life: f.Life}
		w.Changed = func(s config.WorkloadStatus, _ error) {
			text := fmt.Sprintf("%ds %s %s", time.Since(w.begun).Milliseconds()/1000, s.State, s.Reason)
			w.log = append(w.log, strings.TrimSpace(text))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.Run(ctx) }()
		play(t, w)
		cancel()
		<-done
	})
	return w.log
}

func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheFirstHandshakeMakesItReady(t *testing.T) {
	got := inWorld(t, &fake{handshake: up, took: 2 * time.Second}, func(t *testing.T, w *world) {
		if s := w.Status(); s.State != config.WorkloadStarting {
			t.Errorf("state %v before the first answer", s.State)
		}
		time.Sleep(time.Hour)
		if s := w.Status(); !w.Up() || s.Name != "demo" || s.Era != "legacy" {
			t.Errorf("status %+v", s)
		}
		if n := len(w.f.attempts); n != 1 {
			t.Errorf("%d handshakes in a quiet hour", n)
		}
	})
	want(t, got, "2s Ready")
}

func TestAFailedCheckGoesBackToTheHandshakeAtOnce(t *testing.T) {
	got := inWorld(t, &fake{handshake: up}, func(t *testing.T, w *world) {
		time.Sleep(60*time.Second + time.Millisecond)
		w.f.alter(func() {
			w.f.check = &Failure{Reason: config.ReasonAgentUnreachable, Err: errors.New("gone")}
			w.f.handshake = fails(config.ReasonAgentUnreachable)
		})
		time.Sleep(10 * time.Second)
		w.f.alter(func() { w.f.check, w.f.handshake = nil, up })
		time.Sleep(2 * time.Second) // the backoff of an absent agent is short
		if !w.Up() {
			t.Error("not ready 2 s after the agent came back")
		}
	})
	want(t, got[:2], "0s Ready", "61s Failed AgentUnreachable")
	if len(got) != 3 || !strings.HasSuffix(got[2], "Ready") {
		t.Errorf("log %q", got)
	}
}

func TestARestartThatNoCheckCouldSeeIsFollowedByAHandshake(t *testing.T) {
	f := &fake{handshake: up}
	got := inWorld(t, f, func(t *testing.T, w *world) {
		time.Sleep(time.Minute)
		w.f.alter(func() { w.f.life = "second" })
		time.Sleep(time.Minute)
		w.f.alter(func() {
			if n := len(w.f.attempts); n != 2 {
				t.Errorf("%d handshakes, want one for each life", n)
			}
			w.f.life, w.f.handshake = "third", fails(config.ReasonExited)
		})
		time.Sleep(2 * time.Second)
		if w.Up() {
			t.Error("still ready with a workload that does not answer any more")
		}
	})
	want(t, got[:1], "0s Ready")
}

func TestOneSlowCheckIsForgivenTwoAreNot(t *testing.T) {
	got := inWorld(t, &fake{handshake: up}, func(t *testing.T, w *world) {
		time.Sleep(10*time.Second + time.Millisecond)
		w.f.alter(func() { w.f.check = context.DeadlineExceeded })
		time.Sleep(time.Second)
		w.f.alter(func() { w.f.check = nil })
		time.Sleep(10 * time.Second)
		w.f.alter(func() { w.f.check, w.f.handshake = context.DeadlineExceeded, fails(config.ReasonNoAnswer) })
		time.Sleep(10 * time.Second)
	})
	want(t, got, "0s Ready", "23s Failed NoAnswer")
}

func TestAttemptsBackOffAndACrashLoopDoesNotFlapFaster(t *testing.T) {
	for name, tc := range map[string]struct {
		fake     *fake
		min, max int // attempts within ten minutes
	}{
		"a command that exits costs a process per attempt":  {&fake{handshake: fails(config.ReasonExited)}, 30, 60},
		"an absent agent is asked every second":             {&fake{handshake: fails(config.ReasonAgentUnreachable)}, 400, 800},
		"a workload that dies right after the handshake":    {&fake{handshake: up, check: &Failure{Reason: config.ReasonNoAnswer, Err: errors.New("x")}}, 30, 60},
		"a silent workload is asked when its time has gone": {&fake{handshake: up, took: time.Hour}, 19, 22},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, tc.fake, func(t *testing.T, w *world) { time.Sleep(10 * time.Minute) })
			if n := len(tc.fake.attempts); n < tc.min || n > tc.max {
				t.Errorf("%d attempts, want %d to %d", n, tc.min, tc.max)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	three := 3
	for name, tc := range map[string]struct {
		fake *fake
		want config.WorkloadStatus
	}{
		"the failure's own": {
			&fake{handshake: func() (Peer, error) {
				return Peer{}, fmt.Errorf("start: %w", &Failure{Reason: config.ReasonExited, ExitCode: &three, StderrTail: []string{"boom"}, Err: errors.New("x")})
			}},
			config.WorkloadStatus{State: config.WorkloadFailed, Reason: config.ReasonExited, ExitCode: &three, StderrTail: []string{"boom"}},
		},
		"silence":           {&fake{handshake: up, took: time.Hour}, config.WorkloadStatus{State: config.WorkloadFailed, Reason: config.ReasonNoAnswer}},
		"an unusual error":  {&fake{handshake: func() (Peer, error) { return Peer{}, errors.New("odd") }}, config.WorkloadStatus{State: config.WorkloadFailed, Reason: config.ReasonBadHandshake}},
		"a very long name":  {&fake{handshake: func() (Peer, error) { return Peer{Name: strings.Repeat("n", 999)}, nil }}, config.WorkloadStatus{State: config.WorkloadUp, Name: strings.Repeat("n", 128)}},
		"reachable outside": {&fake{handshake: up}, config.WorkloadStatus{State: config.WorkloadUp, Era: "legacy", Revision: "2025-06-18", Name: "demo", Version: "1", Exposed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &Monitor{Workload: tc.fake, Clocks: NewClocks(30 * time.Second)}
				if tc.want.Exposed {
					m.Exposed = func(context.Context) bool { return true }
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); m.Run(ctx) }()
				time.Sleep(35 * time.Second)
				if diff := cmp.Diff(tc.want, m.Status()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				cancel()
				<-done
			})
		})
	}
}

// O3: the workload's own hook does not start a drain; it suspends.
func TestSuspend(t *testing.T) {
	t.Run("a workload that restarts is ready again after it", func(t *testing.T) {
		got := inWorld(t, &fake{handshake: up}, func(t *testing.T, w *world) {
			time.Sleep(10*time.Second + time.Millisecond)
			w.Suspend()
			w.Suspend()
			if w.Up() {
				t.Error("still ready")
			}
			time.Sleep(5 * time.Second)
			w.f.alter(func() {
				w.f.check = &Failure{Reason: config.ReasonRefused, Err: errors.New("x")}
				w.f.handshake = fails(config.ReasonRefused)
			})
			time.Sleep(3 * time.Second)
			w.f.alter(func() { w.f.check, w.f.handshake = nil, up })
			time.Sleep(3 * time.Second)
		})
		want(t, got[:2], "0s Ready", "10s Starting")
		if last := got[len(got)-1]; !strings.HasSuffix(last, "Ready") {
			t.Errorf("log %q", got)
		}
	})
	t.Run("a workload that does not go away is ready again after a time", func(t *testing.T) {
		got := inWorld(t, &fake{handshake: up}, func(t *testing.T, w *world) {
			time.Sleep(10*time.Second + time.Millisecond)
			w.Suspend()
			time.Sleep(time.Minute)
		})
		want(t, got, "0s Ready", "10s Starting", "30s Ready")
	})
	t.Run("a restart that no check could see ends it", func(t *testing.T) {
		got := inWorld(t, &fake{handshake: up}, func(_ *testing.T, w *world) {
			time.Sleep(10*time.Second + time.Millisecond)
			w.Suspend()
			time.Sleep(time.Second)
			w.f.alter(func() { w.f.life = "second" })
			time.Sleep(time.Minute)
		})
		want(t, got, "0s Ready", "10s Starting", "11s Ready")
	})
	t.Run("a handshake under way does not undo it", func(t *testing.T) {
		got := inWorld(t, &fake{handshake: up, took: 5 * time.Second}, func(t *testing.T, w *world) {
			time.Sleep(2 * time.Second)
			w.Suspend()
			time.Sleep(10 * time.Second)
			if w.Up() {
				t.Error("ready although the workload is being stopped")
			}
		})
		want(t, got, "2s Starting")
	})
}

func TestExposedNeedsAnAddressFromOutside(t *testing.T) {
	for _, ip := range []string{"", "nonsense", "127.0.0.1", "::1", "0.0.0.0"} {
		if Exposed(ip, 80) != nil {
			t.Errorf("%q is asked", ip)
		}
	}
}
