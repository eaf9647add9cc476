package inflight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/inflight"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestIdleIsWhenNothingGoesOn(t *testing.T) {
	var c inflight.Counter
	closed := func(none <-chan struct{}) bool {
		select {
		case <-none:
			return true
		default:
			return false
		}
	}
	if !closed(c.Idle()) {
		t.Error("nothing has begun and it is not idle")
	}
	c.Enter()
	c.Enter()
	first, second := c.Idle(), c.Idle()
	c.Leave()
	if c.Len() != 1 || closed(first) || closed(second) || closed(c.Idle()) {
		t.Error("one is in and it is idle")
	}
	c.Leave()
	if c.Len() != 0 || !closed(first) || !closed(second) || !closed(c.Idle()) {
		t.Error("all have left and it is not idle")
	}
	c.Enter()
	if closed(c.Idle()) {
		t.Error("one is in again and it is idle")
	}
	c.Leave()
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c inflight.Counter
		gone := errors.New("gone")
		ctx, stop := context.WithCancelCause(t.Context())
		c.Enter()
		time.AfterFunc(time.Second, func() { stop(gone) })
		if err := c.Wait(ctx); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		time.AfterFunc(time.Second, c.Leave)
		if err := c.Wait(t.Context()); err != nil || c.Len() != 0 {
			t.Errorf("got %v with %d in", err, c.Len())
		}
	})
}

// Whoever waits is told, however close he came to the last who left.
func TestNobodyWaitsForEver(t *testing.T) {
	var c inflight.Counter
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2000 {
				c.Enter()
				c.Leave()
			}
		})
		all.Go(func() {
			for range 500 {
				if err := c.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
