package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// kept is an Events that can be slow, down or broken.
type kept struct {
	stream.Memory
	mu   sync.Mutex
	wait time.Duration
	err  error
	bad  bool
}

func (k *kept) set(f func()) { k.mu.Lock(); defer k.mu.Unlock(); f() }

func (k *kept) Append(ctx context.Context, handle string, e stream.Event) error {
	k.mu.Lock()
	wait, err, bad := k.wait, k.err, k.bad
	k.mu.Unlock()
	if bad {
		panic("boom")
	}
	if wait > 0 {
		time.Sleep(wait)
	}
	if err != nil {
		return err
	}
	return k.Memory.Append(ctx, handle, e)
}

// has is what can be resumed of a stream from its beginning.
func (k *kept) has(t *testing.T, handle string) string {
	t.Helper()
	events, ok, err := k.After(context.Background(), handle, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return "nothing"
	}
	var all []string
	for _, e := range events {
		all = append(all, fmt.Sprintf("%d=%.9s", e.Seq, e.Data))
	}
	return strings.Join(all, " ")
}

// keeping runs f with a store of streams and what it is kept in.
func keeping(t *testing.T, f func(s *stream.Store, k *kept, failed func() []error)) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var errs []error
		k := &kept{}
		s := &stream.Store{Events: k, EventsFailed: func(err error) { mu.Lock(); errs = append(errs, err); mu.Unlock() }}
		f(s, k, func() []error { mu.Lock(); defer mu.Unlock(); return errs })
		synctest.Wait()
	})
}

// W9.9, D10: what streams with ids send is kept as long as it can be resumed.
func TestEventsAreKept(t *testing.T) {
	keeping(t, func(s *stream.Store, k *kept, failed func() []error) {
		a, b, without := open(t, s, "a"), open(t, s, "b"), open(t, s, "")
		send(t, a, 1, 2)
		send(t, b, 3, 3)
		send(t, without, 4, 4)
		if err := s.Kept(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := k.has(t, "a") + ", " + k.has(t, "b") + ", " + k.has(t, ""); got != "2=1 3=2, 2=3, nothing" {
			t.Error(got)
		}
		a.Drop()
		without.Drop()
		synctest.Wait()
		if got := k.has(t, "a"); got != "nothing" {
			t.Errorf("dropped, but there is %s", got)
		}
		b.End()
		time.Sleep(5*time.Minute + time.Second) // nobody came back for it
		synctest.Wait()
		if got := k.has(t, "b"); got != "nothing" {
			t.Errorf("out of time, but there is %s", got)
		}
		if errs := failed(); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// D10: what a process leaves stays, however its streams end then.
func TestAProcessLeavesItsEvents(t *testing.T) {
	keeping(t, func(s *stream.Store, k *kept, _ func() []error) {
		a, gap := open(t, s, "a"), open(t, s, "gap")
		send(t, a, 1, 1)
		send(t, gap, 1, 1)
		s.Leave()
		_ = a.SendLast([]byte("bye"))
		a.Drop()
		// Across a gap nothing can be resumed, leaving or not.
		taken := 0
		for s.Budget.TryAcquire(1 << 20) {
			taken++
		}
		for s.Budget.TryAcquire(1) {
		}
		if err := gap.Send(make([]byte, 4096)); !errors.Is(err, stream.ErrOverflow) {
			t.Errorf("%v with %d MiB taken", err, taken)
		}
		gap.Drop()
		if err := s.Kept(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := k.has(t, "a") + ", " + k.has(t, "gap"); got != "2=1 3=bye, nothing" {
			t.Error(got)
		}
	})
}

// D10: a store that fails, hangs or panics costs resumes elsewhere, of the
// streams concerned, and nobody who sends.
func TestEventsThatCannotBeKept(t *testing.T) {
	keeping(t, func(s *stream.Store, k *kept, failed func() []error) {
		down := errors.New("down")
		a, b := open(t, s, "a"), open(t, s, "b")
		send(t, a, 1, 1)
		synctest.Wait()
		k.set(func() { k.err = down })
		send(t, a, 2, 2)
		synctest.Wait()
		k.set(func() { k.err = nil })
		send(t, a, 3, 3)
		send(t, b, 1, 1)
		synctest.Wait()
		if got := k.has(t, "a") + ", " + k.has(t, "b"); got != "nothing, 2=1" || len(failed()) != 1 || !errors.Is(failed()[0], down) {
			t.Error(got, failed())
		}
		if r := attach(t, a, 1); r.Replayed != 3 { // here all is as it was
			t.Errorf("%d events here", r.Replayed)
		}
		k.set(func() { k.bad = true })
		send(t, b, 2, 2)
		synctest.Wait()
		k.set(func() { k.bad = false })
		if got := k.has(t, "b"); got != "nothing" || len(failed()) != 2 {
			t.Error(got, failed())
		}
		a.Drop()
		b.Drop()
	})
	for name, size := range map[string]int{"by number": 1, "by bytes": 64 << 10} {
		t.Run("the bound "+name, func(t *testing.T) {
			keeping(t, func(s *stream.Store, k *kept, failed func() []error) {
				k.set(func() { k.wait = time.Second })
				busy, quiet := open(t, s, "busy"), open(t, s, "quiet")
				send(t, quiet, 1, 1)
				before := time.Now()
				for range 1500 {
					_ = busy.Send(make([]byte, size))
				}
				if took := time.Since(before); took != 0 {
					t.Errorf("who sends waited %s", took)
				}
				ctx, stop := context.WithTimeout(context.Background(), time.Second/2)
				defer stop()
				if err := s.Kept(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Kept: %v", err)
				}
				if err := s.Kept(context.Background()); err != nil {
					t.Fatal(err)
				}
				if got := k.has(t, "busy") + ", " + k.has(t, "quiet"); got != "nothing, 2=1" || len(failed()) != 1 || !errors.Is(failed()[0], stream.ErrBehind) {
					t.Error(got, failed())
				}
				busy.Drop()
				quiet.Drop()
			})
		})
	}
}
