package handle_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/handle"
)

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan string, 10)
		s := store(t, handle.Options[cart]{TTL: 10 * time.Minute, Idle: time.Minute, Released: func(c cart) { released <- c.Items[0] }})
		defer s.Close()
		used, idle := put(t, s, alice, "used"), put(t, s, alice, "idle")
		for range 11 {
			time.Sleep(time.Minute - time.Second)
			if _, err := s.Get(t.Context(), alice, used); err != nil {
				break
			}
		}
		is(t, second(s.Get(t.Context(), alice, idle)), handle.ErrUnknown)
		is(t, second(s.Get(t.Context(), alice, used)), handle.ErrUnknown) // ten minutes are over
		synctest.Wait()
		if a, b := <-released, <-released; a != "idle" || b != "used" || s.Len() != 0 {
			t.Errorf("released %s, %s; %d left", a, b, s.Len())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := store(t, handle.Options[cart]{TTL: time.Minute})
		defer s.Close()
		h := put(t, s, alice)
		time.Sleep(time.Minute - time.Nanosecond)
		has(t, s, alice, h)
		time.Sleep(time.Nanosecond)
		is(t, second(s.Get(t.Context(), alice, h)), handle.ErrUnknown)
	})
}

func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		released := 0
		s := store(t, handle.Options[cart]{TTL: time.Second, Idle: 500 * time.Millisecond, PerOwner: 1000, Released: func(cart) {
			mu.Lock()
			released++
			mu.Unlock()
		}})
		const handles, edits = 20, 50
		var all sync.WaitGroup
		for n := range handles {
			h := put(t, s, alice)
			for i := range edits {
				all.Go(func() {
					time.Sleep(time.Duration(i) * 30 * time.Millisecond)
					_, err := s.Update(context.Background(), alice, h, adds("x"))
					if err != nil && !errors.Is(err, handle.ErrUnknown) {
						t.Error(err)
					}
				})
			}
			all.Go(func() {
				time.Sleep(300*time.Millisecond + time.Nanosecond)
				got, err := s.Get(context.Background(), alice, h)
				if err != nil || len(got.Items) != 11 {
					t.Errorf("got %d, %v", len(got.Items), err)
				}
				if n%2 == 0 {
					_ = s.Revoke(context.Background(), alice, h)
				}
			})
		}
		all.Wait()
		time.Sleep(time.Minute)
		s.Close()
		if released != handles {
			t.Errorf("%d released", released)
		}
	})
}

func TestEndsWhileInUse(t *testing.T) {
	var s *handle.Store[cart]
	released := make(chan struct{}, 9)
	end := func() { // as somebody else would
		go s.RevokeAll(alice)
		for s.Len() > 0 {
			runtime.Gosched()
		}
	}
	revokeOn := handle.Use("")
	s = store(t, handle.Options[cart]{
		Released: func(cart) { released <- struct{}{} },
		Authorize: func(_ context.Context, _ handle.Owner, use handle.Use, _ cart) error {
			if use == revokeOn {
				end()
			}
			return nil
		},
	})
	ops := map[handle.Use]func(h string) error{
		handle.Read:   func(h string) error { return second(s.Get(t.Context(), alice, h)) },
		handle.Change: func(h string) error { return second(s.Update(t.Context(), alice, h, adds("x"))) },
		handle.Revoke: func(h string) error { return s.Revoke(t.Context(), alice, h) },
		"": func(h string) error {
			return second(s.Update(t.Context(), alice, h, func(c cart) (cart, error) { end(); return c, nil }))
		},
	}
	for use, op := range ops {
		h := put(t, s, alice)
		revokeOn = use
		if err := op(h); !errors.Is(err, handle.ErrUnknown) {
			t.Errorf("%s: %v", use, err)
		}
		revokeOn = ""
		<-released
	}
	s.Close()
	if len(released) > 0 {
		t.Error("released twice")
	}
}

// A panic of Released ends with the value that it was about.
func TestAPanicInReleasedEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := 0
		s := store(t, handle.Options[cart]{
			TTL: time.Minute, Released: func(cart) { panic("released") },
			Panicked: func(v any, stack []byte) {
				if v == "released" && len(stack) > 0 {
					panics++
				}
			},
		})
		defer s.Close()
		h := put(t, s, alice, "a")
		put(t, s, alice, "b")
		time.Sleep(time.Hour)
		synctest.Wait()
		is(t, second(s.Get(t.Context(), alice, h)), handle.ErrUnknown)
		if panics != 2 || s.Len() != 0 {
			t.Errorf("%d panics, %d left", panics, s.Len())
		}
		has(t, s, alice, put(t, s, alice, "c"), "c")
	})
}
