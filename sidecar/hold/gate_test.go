package hold

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

type result struct {
	leave func()
	err   error
}

// enter asks in the background; the channel yields how it went.
func enter(ctx context.Context, g *Gate) <-chan result {
	c := make(chan result, 1)
	go func() {
		leave, err := g.Enter(ctx)
		c <- result{leave, err}
	}()
	return c
}

func counts(t *testing.T, g *Gate, active, held int) {
	t.Helper()
	if a, h := g.Counts(); a != active || h != held {
		t.Errorf("%d active, %d held; want %d, %d", a, h, active, held)
	}
}

// P1: what may come back is waited for, and not for ever.
func TestCallsAreHeldForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(4, 30*time.Second)
		first := enter(t.Context(), g)
		time.Sleep(29 * time.Second)
		g.Open()
		g.Open()
		r := <-first
		if r.err != nil {
			t.Fatal(r.err)
		}
		r.leave()
		g.Close()
		g.Close()
		begun := time.Now()
		if r := <-enter(t.Context(), g); !errors.Is(r.err, ErrAway) || time.Since(begun) != 30*time.Second {
			t.Errorf("%v after %v", r.err, time.Since(begun))
		}
		counts(t, g, 0, 0)
	})
}

func TestAnOpenGateLetsEverybodyThroughAtOnce(t *testing.T) {
	g := New(0, time.Hour)
	g.Open()
	for range 1000 {
		if _, err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	counts(t, g, 1000, 0)
}

func TestTheNumberOfHeldCallsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(2, time.Minute)
		a, b := enter(t.Context(), g), enter(t.Context(), g)
		synctest.Wait()
		if _, err := g.Enter(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("the third got %v, want ErrFull at once", err)
		}
		counts(t, g, 0, 2)
		g.Open()
		(<-a).leave()
		(<-b).leave()
		counts(t, g, 0, 0)
	})
}

func TestACancelledCallIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("client gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		g := New(1, time.Minute)
		c := enter(ctx, g)
		synctest.Wait()
		cancel(gone)
		if r := <-c; !errors.Is(r.err, gone) {
			t.Errorf("got %v", r.err)
		}
		counts(t, g, 0, 0)
	})
}

func TestIdleWaitsForRunningCallsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, time.Minute)
		g.Open()
		leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		g.Close()
		held := enter(t.Context(), g)
		time.AfterFunc(3*time.Second, leave)
		begun := time.Now()
		g.Idle(t.Context())
		if d := time.Since(begun); d != 3*time.Second {
			t.Errorf("idle after %v", d)
		}
		if r := <-held; !errors.Is(r.err, ErrAway) {
			t.Errorf("the held call got %v", r.err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		g.Open()
		busy, err := g.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		g.Idle(ctx) // returns although a call runs
		busy()
	})
}

func TestNoCallIsLostWhileTheGateSwings(t *testing.T) {
	g := New(1000, time.Minute)
	stop := make(chan struct{})
	var swing, calls sync.WaitGroup
	swing.Go(func() {
		for {
			select {
			case <-stop:
				g.Open()
				return
			default:
				g.Open()
				g.Close()
			}
		}
	})
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		calls.Go(func() {
			defer cancel()
			leave, err := g.Enter(ctx)
			if err == nil {
				leave()
			} else if i%3 != 0 {
				t.Errorf("call %d: %v", i, err)
			}
		})
		if i%3 == 0 {
			go cancel()
		}
	}
	time.AfterFunc(20*time.Millisecond, func() { close(stop) })
	calls.Wait()
	swing.Wait()
	counts(t, g, 0, 0)
}
