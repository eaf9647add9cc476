package limit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// enter asks in the background; the channel yields how it went.
func enter(ctx context.Context, g *Gate) <-chan result {
	c := make(chan result, 1)
	go func() {
		leave, err := g.Enter(ctx)
		c <- result{leave, err}
	}()
	return c
}

type result struct {
	leave func()
	err   error
}

func counts(t *testing.T, g *Gate, active, waiting int) {
	t.Helper()
	if a, w := g.Counts(); a != active || w != waiting {
		t.Errorf("%d active, %d waiting; want %d, %d", a, w, active, waiting)
	}
}

func TestGateBoundsActiveAndWaitingAndKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, 2, time.Minute)
		g.Open()
		first, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second := enter(t.Context(), g)
		synctest.Wait()
		third := enter(t.Context(), g)
		synctest.Wait()
		counts(t, g, 1, 2)
		if _, err := g.Enter(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("the fourth got %v, want ErrFull at once", err)
		}
		first()
		two := <-second
		synctest.Wait()
		select {
		case <-third:
			t.Error("the third ran beside the second")
		default:
		}
		two.leave()
		(<-third).leave()
		counts(t, g, 0, 0)
	})
}

// P1: what may come back is waited for, and not for ever.
func TestAClosedGateHoldsCallsForTheHoldTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(4, 4, 30*time.Second)
		comesBack := enter(t.Context(), g)
		time.Sleep(29 * time.Second)
		g.Open()
		r := <-comesBack
		if r.err != nil {
			t.Fatal(r.err)
		}
		r.leave()
		g.Close()
		begun := time.Now()
		staysAway := enter(t.Context(), g)
		if r := <-staysAway; !errors.Is(r.err, ErrHeld) || time.Since(begun) != 30*time.Second {
			t.Errorf("%v after %v", r.err, time.Since(begun))
		}
		counts(t, g, 0, 0)
	})
}

func TestWaitingForATurnIsNotAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, 1, 30*time.Second)
		g.Open()
		leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second := enter(t.Context(), g)
		time.Sleep(5 * time.Minute)
		counts(t, g, 1, 1)
		leave()
		if r := <-second; r.err != nil {
			t.Error(r.err)
		} else {
			r.leave()
		}
	})
}

func TestACancelledCallLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("client gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		g := New(1, 1, time.Minute)
		c := enter(ctx, g)
		synctest.Wait()
		cancel(gone)
		if r := <-c; !errors.Is(r.err, gone) {
			t.Errorf("got %v", r.err)
		}
		counts(t, g, 0, 0)
	})
}

func TestLimitsChangeWhileCallsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, 4, time.Minute)
		g.Open()
		one, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		two := enter(t.Context(), g)
		synctest.Wait()
		g.SetLimit(2, 4)
		second := <-two
		g.SetLimit(1, 0)
		if _, err := g.Enter(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("got %v, want ErrFull", err)
		}
		counts(t, g, 2, 0) // a lower limit cuts nobody
		one()
		second.leave()
	})
}

func TestIdleWaitsForRunningCallsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, 1, time.Minute)
		g.Open()
		leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		g.Close()
		waiting := enter(t.Context(), g)
		time.AfterFunc(3*time.Second, leave)
		begun := time.Now()
		g.Idle(t.Context())
		if d := time.Since(begun); d != 3*time.Second {
			t.Errorf("idle after %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		g.Idle(ctx) // nothing runs: at once, although a call waits
		if ctx.Err() != nil {
			t.Error("a waiting call counts as running")
		}
		if r := <-waiting; !errors.Is(r.err, ErrHeld) {
			t.Errorf("the waiting call got %v", r.err)
		}
	})
}

func TestGateLosesNoTurnUnderContention(t *testing.T) {
	g := New(3, 1000, time.Minute)
	g.Open()
	var wg sync.WaitGroup
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			defer cancel()
			if leave, err := g.Enter(ctx); err == nil {
				leave()
			}
		})
		if i%3 == 0 {
			go cancel()
		}
	}
	wg.Wait()
	counts(t, g, 0, 0)
}
