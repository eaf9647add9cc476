package drain

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var clocks = Clocks{Propagation: 5 * time.Second, Drain: 30 * time.Second, Linger: 2 * time.Second, Spread: 3 * time.Second}

// step is something that was observed, and when after Begin.
type step struct {
	What  string
	After time.Duration
}

// drainOf runs a drain in virtual time. play is called right after Begin and
// may schedule requests.
func drainOf(t *testing.T, c Clocks, play func(d *Drainer)) []step {
	t.Helper()
	var steps []step
	synctest.Test(t, func(t *testing.T) {
		var begun time.Time
		note := func(what string) { steps = append(steps, step{what, time.Since(begun)}) }
		d := New(Options{
			Clocks:  c,
			Stop:    func(spread time.Duration) { note("stop " + spread.String()) },
			Cut:     func(err error) { note("cut: " + err.Error()) },
			Last:    func() { note("last") },
			Observe: func(s State, cause string, n int) { note(s.String() + " " + cause) },
		})
		done := make(chan error, 1)
		go func() { done <- d.Run(t.Context()) }()
		time.Sleep(time.Hour)
		begun = time.Now()
		d.Begin("preStop")
		d.Begin("SIGTERM") // only the first counts
		if play != nil {
			play(d)
		}
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		<-d.Drained()
	})
	return steps
}

// request is in flight from now for the given time.
func request(d *Drainer, length time.Duration) {
	leave, ok := d.Enter()
	if !ok {
		panic("refused")
	}
	time.AfterFunc(length, leave)
}

func later(after time.Duration, f func()) { time.AfterFunc(after, f) }

func TestDrain(t *testing.T) {
	for name, tc := range map[string]struct {
		clocks Clocks
		play   func(d *Drainer)
		want   []step
	}{
		"an idle pod lingers and is done": {clocks, nil, []step{
			{"leaving preStop", 0},
			{"closing preStop", 5 * time.Second},
			{"stop 3s", 5 * time.Second},
			{"last", 7 * time.Second},
			{"drained preStop", 7 * time.Second},
		}},
		// P24: what comes while endpoints move is served like any other.
		"a call that comes while endpoints move is waited for": {clocks,
			func(d *Drainer) { later(4*time.Second, func() { request(d, 8*time.Second) }) },
			[]step{
				{"leaving preStop", 0},
				{"closing preStop", 5 * time.Second},
				{"stop 3s", 5 * time.Second},
				{"last", 14 * time.Second},
				{"drained preStop", 14 * time.Second}, // 4 + 8 + linger
			}},
		// O25: a reused connection within the linger time starts it anew.
		"a call within the linger time is served and starts it anew": {clocks,
			func(d *Drainer) {
				request(d, 6*time.Second)
				later(7*time.Second, func() { request(d, time.Second) })
			},
			[]step{
				{"leaving preStop", 0},
				{"closing preStop", 5 * time.Second},
				{"stop 3s", 5 * time.Second},
				{"last", 10 * time.Second},
				{"drained preStop", 10 * time.Second}, // 7 + 1 + linger
			}},
		"a call that does not end is cut within the drain time": {clocks,
			func(d *Drainer) { request(d, time.Hour) },
			[]step{
				{"leaving preStop", 0},
				{"closing preStop", 5 * time.Second},
				{"stop 3s", 5 * time.Second},
				{"cut: drain: time is up", 34 * time.Second},
				{"last", 35 * time.Second},
				{"drained preStop", 35 * time.Second},
			}},
		"a cut call that answers at once ends the drain at once": {clocks,
			func(d *Drainer) { request(d, 34*time.Second+100*time.Millisecond) },
			[]step{
				{"leaving preStop", 0},
				{"closing preStop", 5 * time.Second},
				{"stop 3s", 5 * time.Second},
				{"cut: drain: time is up", 34 * time.Second},
				{"last", 34*time.Second + 100*time.Millisecond},
				{"drained preStop", 34*time.Second + 100*time.Millisecond},
			}},
		"time up within the linger time cuts nothing": {clocks,
			func(d *Drainer) { request(d, 33*time.Second) },
			[]step{
				{"leaving preStop", 0},
				{"closing preStop", 5 * time.Second},
				{"stop 3s", 5 * time.Second},
				{"last", 34 * time.Second},
				{"drained preStop", 34 * time.Second},
			}},
		"no drain time at all": {Clocks{Propagation: 5 * time.Second, Linger: 2 * time.Second, Spread: time.Second},
			func(d *Drainer) { request(d, time.Hour) },
			[]step{
				{"leaving preStop", 0},
				{"closing preStop", 5 * time.Second},
				{"stop 0s", 5 * time.Second},
				{"cut: drain: time is up", 5 * time.Second},
				{"last", 5 * time.Second},
				{"drained preStop", 5 * time.Second},
			}},
	} {
		t.Run(name, func(t *testing.T) {
			got := drainOf(t, tc.clocks, tc.play)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// A balancer may learn late that the pod is ending: what it still sends is
// served until the process ends.
func TestAQuietDrainStillServesUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Clocks: clocks})
		go d.Begin("SIGTERM")
		if err := d.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		leave, ok := d.Enter()
		if !ok {
			t.Fatal("a late request was refused")
		}
		leave()
		d.Close()
		d.Close()
		if d.State() != Closed {
			t.Errorf("state %v", d.State())
		}
		if _, ok := d.Enter(); ok {
			t.Error("a request was let in after the end")
		}
		d.Begin("again") // O3: final
		if d.State() != Closed {
			t.Errorf("state %v after Begin", d.State())
		}
	})
}

func TestADrainThatCutRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Clocks: clocks})
		request(d, time.Hour)
		go d.Begin("SIGTERM")
		if err := d.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, ok := d.Enter(); ok {
			t.Error("a request was let in")
		}
		time.Sleep(time.Hour)
	})
}

func TestRunEndsWithItsContextInEveryState(t *testing.T) {
	gone := errors.New("gone")
	for name, after := range map[string]time.Duration{
		"before a drain":  0,
		"while leaving":   time.Second,
		"while closing":   10 * time.Second,
		"while lingering": 26 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				d := New(Options{Clocks: clocks})
				done := make(chan error, 1)
				go func() { done <- d.Run(ctx) }()
				if after > 0 {
					request(d, 25*time.Second)
					d.Begin("preStop")
					time.Sleep(after)
				}
				cancel(gone)
				if err := <-done; !errors.Is(err, gone) {
					t.Errorf("Run: %v", err)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}
