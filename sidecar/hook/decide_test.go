package hook

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pod is what the application does, on a clock.
type pod struct {
	Server
	draining, drained chan struct{}
	drains            int
	began             time.Duration // when the drain began, 0 if it did not
	stopping          time.Duration // when WorkloadStopping was called
	settle            time.Duration // how long it takes
	start             time.Time
}

func newPod() *pod {
	p := &pod{draining: make(chan struct{}), drained: make(chan struct{}), start: time.Now()}
	p.Draining, p.Drained = p.draining, p.drained
	p.Drain = func(cause string) {
		if p.drains++; p.drains == 1 {
			p.began = time.Since(p.start)
			close(p.draining)
		}
	}
	p.WorkloadStopping = func(ctx context.Context) {
		p.stopping = time.Since(p.start)
		select {
		case <-time.After(p.settle):
		case <-ctx.Done():
		}
	}
	return p
}

// The cases of O3, on one clock: when what happens, and when which hook may
// return with what.
func TestWhatEachHookWaitsFor(t *testing.T) {
	const (
		ms  = time.Millisecond
		sec = time.Second
	)
	type want struct {
		outcome Outcome
		at      time.Duration
	}
	tests := map[string]struct {
		own     time.Duration // the sidecar's own hook comes; 0: never
		sigterm time.Duration // a drain begins without a hook; 0: never
		drain   time.Duration // how long the drain takes
		settle  time.Duration // how long the workload's calls take in a restart
		leaves  time.Duration // the workload's hook goes away; 0: never
		// what the workload's hook gets, which comes at 0
		workload want
		stopping bool // WorkloadStopping is called
	}{
		"normal deletion: both wait for the drain": {
			own: 20 * ms, drain: 7 * sec, workload: want{OutcomeDrained, 7*sec + 20*ms}},
		"normal deletion, own hook just in time": {
			own: 999 * ms, drain: 1 * sec, workload: want{OutcomeDrained, 1*sec + 999*ms}},
		"liveness restart: a second, then the calls": {
			settle: 2 * sec, workload: want{OutcomeRestart, 3 * sec}, stopping: true},
		"liveness restart of a hung workload: five seconds for its calls": {
			settle: time.Hour, workload: want{OutcomeRestart, 6 * sec}, stopping: true},
		"own hook late on a busy node: the pod ends after all": {
			own: 3 * sec, drain: 10 * sec, settle: time.Hour, workload: want{OutcomeDrained, 13 * sec}, stopping: true},
		"own hook late, the calls were over before": {
			own: 3 * sec, drain: 10 * sec, settle: 1 * sec, workload: want{OutcomeRestart, 2 * sec}, stopping: true},
		"SIGTERM to the sidecar is a drain like any": {
			sigterm: 500 * ms, drain: 4 * sec, workload: want{OutcomeDrained, 4*sec + 500*ms}},
		"the hook's deadline: nobody waits on": {
			own: 20 * ms, drain: time.Hour, leaves: 35 * sec, workload: want{OutcomeGone, 35 * sec}},
		"a hook that leaves in the first second": {
			leaves: 300 * ms, workload: want{OutcomeGone, 300 * ms}},
		"a hook that leaves while calls settle": {
			settle: time.Hour, leaves: 2 * sec, workload: want{OutcomeGone, 2 * sec}, stopping: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPod()
				p.settle = tt.settle
				test, end := context.WithCancel(t.Context())
				at := func(d time.Duration, f func()) {
					if d > 0 {
						go func() {
							select {
							case <-time.After(d):
								f()
							case <-test.Done():
							}
						}()
					}
				}
				own := make(chan Outcome, 1)
				at(tt.own, func() { own <- p.decide(test, KindSidecar) })
				at(tt.sigterm, func() { p.Drain("SIGTERM") })
				begin := max(tt.own, tt.sigterm)
				if begin > 0 {
					at(begin+tt.drain, func() { close(p.drained) })
				}
				ctx, leave := context.WithCancel(test)
				at(tt.leaves, leave)
				got := want{p.decide(ctx, KindWorkload), time.Since(p.start)}
				if got != tt.workload {
					t.Errorf("workload hook: got %v, want %v", got, tt.workload)
				}
				if (p.stopping > 0) != tt.stopping {
					t.Errorf("WorkloadStopping at %v", p.stopping)
				}
				if begin == 0 && p.drains != 0 {
					t.Error("the workload's hook began a drain")
				}
				if got.outcome == OutcomeDrained && tt.own > 0 {
					synctest.Wait()
					if o := <-own; o != OutcomeDrained {
						t.Errorf("own hook: %v", o)
					}
				}
				end()
				synctest.Wait()
			})
		})
	}
}

func TestADrainThatIsOverCountsEvenIfTheHookIsLeaving(t *testing.T) {
	for range 100 { // select has no order
		p := newPod()
		close(p.draining)
		close(p.drained)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := p.Server.drained(ctx); got != OutcomeDrained {
			t.Fatalf("got %v", got)
		}
	}
}
