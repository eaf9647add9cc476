package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

func open(t *testing.T, s *stream.Store, handle string) *stream.Stream {
	t.Helper()
	st, err := s.New(handle, nil)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func send(t *testing.T, st *stream.Stream, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		if err := st.Send(fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
}

func attach(t *testing.T, st *stream.Stream, after uint64) *stream.Reader {
	t.Helper()
	r, err := st.Attach(after)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// take returns the data of what is there, and the end.
func take(r *stream.Reader) (string, error) {
	events, end := r.Take()
	var out []string
	for _, e := range events {
		out = append(out, string(e.Data))
	}
	return strings.Join(out, " "), end
}

func want(t *testing.T, r *stream.Reader, text string, end error) {
	t.Helper()
	got, err := take(r)
	if got != text || !errors.Is(err, end) || (err == nil) != (end == nil) {
		t.Errorf("took %q, %v; want %q, %v", got, err, text, end)
	}
}

func TestReadAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stream.Store
		st := open(t, &s, "h")
		send(t, st, 1, 2)
		r := attach(t, st, 0)
		if r.Prime != 1 || r.Replayed != 2 {
			t.Errorf("prime %d, %d replayed", r.Prime, r.Replayed)
		}
		want(t, r, "1 2", nil)
		want(t, r, "", nil)
		send(t, st, 3, 3)
		<-r.Ready()
		want(t, r, "3", nil)
		r.Close()
		r.Close()
		if st.Live() {
			t.Error("live without a reader")
		}
		send(t, st, 4, 4)
		r = attach(t, st, 3) // sequence 1 is the priming, so 3 is event "2"
		if r.Prime != 0 || r.Replayed != 2 {
			t.Errorf("prime %d, %d replayed", r.Prime, r.Replayed)
		}
		want(t, r, "3 4", nil)
		second := attach(t, st, 5)
		if second.Prime != 6 { // nothing to replay: a fresh id (P3)
			t.Errorf("prime %d", second.Prime)
		}
		want(t, r, "", stream.ErrReplaced)
		r.Close()
		if err := st.SendLast([]byte("5")); err != nil {
			t.Error(err)
		}
		want(t, second, "5", io.EOF)
		second.Close()
		if err := st.Send([]byte("6")); err != stream.ErrEnded {
			t.Error(err)
		}
		// Still there for a while, from anywhere; then gone.
		r = attach(t, st, 1)
		want(t, r, "1 2 3 4 5", io.EOF)
		r.Close()
		for _, after := range []uint64{7, 8, 1 << 63, 1<<64 - 1} {
			if _, err := st.Attach(after); err != stream.ErrComplete {
				t.Errorf("after %d: %v", after, err)
			}
		}
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		if _, err := st.Attach(1); err != stream.ErrEnded {
			t.Error(err)
		}
		if used := s.Budget.Used(); used != 0 || s.Open() != 0 {
			t.Errorf("%d bytes, %d streams left", used, s.Open())
		}
	})
}

// B15.2, P2, P18: the ring keeps the newest; what was pushed out is lost, and
// said so.
func TestRing(t *testing.T) {
	for name, limits := range map[string]stream.Limits{"events": {Events: 10}, "bytes": {Bytes: 10 * 97}} {
		t.Run(name, func(t *testing.T) {
			dropped := 0
			s := stream.Store{Limits: limits, Observer: &hook.Observer{Dropped: func(hook.Drop) { dropped++ }}}
			st := open(t, &s, "h")
			defer st.Drop()
			send(t, st, 1, 9)
			for range 6 {
				if err := st.Send([]byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			if dropped != 5 {
				t.Errorf("%d drops", dropped)
			}
			if _, err := st.Attach(5); err != stream.ErrLost {
				t.Errorf("after a lost event: %v", err)
			}
			r := attach(t, st, 6) // event "5" has sequence 6
			want(t, r, "6 7 8 9 x x x x x x", nil)
			r.Close()
			if used, most := s.Budget.Used(), int64(10*97); used != most {
				t.Errorf("%d bytes held, want %d", used, most)
			}
		})
	}
}

func TestOneEventMayBeLargerThanTheRing(t *testing.T) {
	s := stream.Store{Limits: stream.Limits{Bytes: 1000}}
	st := open(t, &s, "h")
	defer st.Drop()
	r := attach(t, st, 0)
	send(t, st, 1, 3)
	if err := st.Send(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	events, err := r.Take()
	if err != nil || len(events) == 0 || len(events[len(events)-1].Data) != 5000 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// P18: a reader that does not read is cut at half of the ring and can come
// back for everything.
func TestSlowReaderIsCutAndComesBack(t *testing.T) {
	s := stream.Store{Limits: stream.Limits{Events: 10}}
	st := open(t, &s, "h")
	defer st.Drop()
	r := attach(t, st, 0)
	send(t, st, 1, 6)
	want(t, r, "", stream.ErrOverflow)
	r.Close()
	send(t, st, 7, 9)
	r = attach(t, st, 1)
	want(t, r, "1 2 3 4 5 6 7 8 9", nil)
}

// Without ids the producer is told, because nothing can be had again.
func TestSlowReaderWithoutIDs(t *testing.T) {
	s := stream.Store{Limits: stream.Limits{Events: 10}}
	st := open(t, &s, "")
	defer st.Drop()
	r := attach(t, st, 0)
	if r.Prime != 0 {
		t.Error("a fresh id on a stream without ids")
	}
	send(t, st, 1, 10)
	if err := st.Send([]byte("11")); err != stream.ErrOverflow {
		t.Errorf("got %v", err)
	}
	want(t, r, "", stream.ErrOverflow)
}

func TestStreamWithoutIDs(t *testing.T) {
	var s stream.Store
	st := open(t, &s, "")
	send(t, st, 1, 2)
	st.End() // before anybody reads
	r := attach(t, st, 0)
	want(t, r, "1 2", io.EOF)
	if s.Budget.Used() == 0 {
		t.Error("what is being written is not counted")
	}
	r.Close()
	if used := s.Budget.Used(); used != 0 || s.Open() != 0 {
		t.Errorf("%d bytes, %d streams left", used, s.Open())
	}
	if _, err := st.Attach(0); err != stream.ErrEnded {
		t.Error(err)
	}
}

func TestReleaseAndCut(t *testing.T) {
	var s stream.Store
	st := open(t, &s, "h")
	defer st.Drop()
	mine := errors.New("mine")
	st.Release(mine) // nobody reads: nothing happens
	r := attach(t, st, 0)
	send(t, st, 1, 2)
	st.Release(mine)
	if st.Live() {
		t.Error("a released stream counts as live")
	}
	want(t, r, "1 2", mine)
	r.Close()
	r = attach(t, st, 3)
	send(t, st, 3, 3)
	st.Cut(mine)
	want(t, r, "", mine)
	r.Close()
	r = attach(t, st, 3)
	want(t, r, "3", nil)
	st.DropWith(mine)
	want(t, r, "", mine)
	r.Close()
}

// A stream that nobody can come back for goes with its reader.
func TestFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stream.Store
		read, unread, late := open(t, &s, "a"), open(t, &s, "b"), open(t, &s, "c")
		r := attach(t, read, 0)
		read.Final()
		_ = read.SendLast([]byte("1"))
		want(t, r, "1", io.EOF)
		r.Close()
		unread.Final()
		_ = unread.SendLast([]byte("1"))
		r = attach(t, late, 0)
		_ = late.SendLast([]byte("1"))
		want(t, r, "1", io.EOF)
		r.Close()
		late.Final()
		if used := s.Budget.Used(); used != 97 {
			t.Errorf("%d bytes, want those of the one that was not read", used)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if used := s.Budget.Used(); used != 0 || s.Open() != 0 {
			t.Errorf("%d bytes, %d streams", used, s.Open())
		}
	})
}

// P18: a producer that may wait loses nothing.
func TestSendWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stream.Store{Limits: stream.Limits{Events: 10}}
		st := open(t, &s, "")
		defer st.Drop()
		r := attach(t, st, 0)
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 100 {
				if err := st.SendWait(t.Context(), fmt.Appendf(nil, "%d", i)); err != nil {
					t.Errorf("event %d: %v", i, err)
					return
				}
			}
		})
		n := 0
		for n < 100 {
			<-r.Ready()
			synctest.Wait()
			events, end := r.Take()
			if end != nil || len(events) > 5 {
				t.Fatalf("%d events, %v", len(events), end)
			}
			n += len(events)
		}
		wg.Wait()
		for range 5 {
			_ = st.Send([]byte("x"))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		mine := errors.New("mine")
		wg.Go(func() {
			if err := st.SendWait(ctx, []byte("y")); err != mine {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		cancel(mine)
		wg.Wait()
		// The end of the reader lets a producer go on.
		wg.Go(func() { _ = st.SendWait(t.Context(), []byte("z")) })
		synctest.Wait()
		r.Close()
		wg.Wait()
	})
}

func TestStoreBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stream.Store{Limits: stream.Limits{Open: 2, Retained: 3}}
		a, b := open(t, &s, "a"), open(t, &s, "b")
		if _, err := s.New("c", nil); err != stream.ErrFull {
			t.Errorf("got %v", err)
		}
		a.End()
		b.Drop()
		var forgotten atomic.Int32
		for range 5 {
			st, err := s.New("x", func() { forgotten.Add(1) })
			if err != nil {
				t.Fatal(err)
			}
			_ = st.SendLast([]byte("1"))
		}
		if n := forgotten.Load(); n != 2 { // 3 are kept
			t.Errorf("%d were forgotten", n)
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if n := forgotten.Load(); n != 5 || s.Budget.Used() != 0 {
			t.Errorf("%d were forgotten, %d bytes", n, s.Budget.Used())
		}
	})
}

// P18: what is only kept for a resume makes room for what is being sent, and
// when nothing makes room the stream that needed it is cut.
func TestBudgetOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := &stream.Budget{Max: 10_000}
		s := stream.Store{Budget: budget}
		kept := open(t, &s, "kept")
		_ = kept.SendLast(make([]byte, 6000))
		live := open(t, &s, "live")
		r := attach(t, live, 0)
		if err := live.Send(make([]byte, 8000)); err != nil {
			t.Fatal(err)
		}
		if _, err := kept.Attach(0); err != stream.ErrEnded {
			t.Errorf("the kept one: %v", err)
		}
		if err := live.Send(make([]byte, 8000)); err != stream.ErrOverflow {
			t.Errorf("got %v", err)
		}
		want(t, r, "", stream.ErrOverflow)
		r.Close()
		if _, err := live.Attach(2); err != stream.ErrLost {
			t.Errorf("resume past the hole: %v", err)
		}
		live.Drop()
		if used := budget.Used(); used != 0 {
			t.Errorf("%d bytes left", used)
		}
	})
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Int64
		b := &stream.Budget{Max: 100, Observer: &hook.Observer{Buffered: func(n int64) { held.Add(n) }}}
		ctx := t.Context()
		if err := b.Acquire(ctx, 101); err != stream.ErrTooLarge {
			t.Errorf("got %v", err)
		}
		if err := b.Acquire(ctx, 80); err != nil {
			t.Fatal(err)
		}
		order := make(chan int, 3)
		var wg sync.WaitGroup
		for i, n := range []int64{50, 10, 30} {
			wg.Go(func() {
				if err := b.Acquire(ctx, n); err != nil {
					t.Error(err)
				}
				order <- i
			})
			synctest.Wait()
		}
		if len(order) != 0 { // 10 would fit, but does not overtake
			t.Error("somebody overtook")
		}
		if !b.TryAcquire(20) { // what is sent does not queue
			t.Error("TryAcquire waited")
		}
		b.Release(20)
		impatient, cancel := context.WithTimeout(ctx, time.Second)
		if err := b.Acquire(impatient, 5); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		cancel()
		b.Release(80)
		wg.Wait()
		if first := <-order; first != 0 && b.Used() != 90 {
			t.Errorf("first %d, %d used", first, b.Used())
		}
		b.Release(90)
		b.Release(0)
		if n := held.Load(); b.Used() != 0 || n != 0 {
			t.Errorf("%d used, %d observed", b.Used(), n)
		}
	})
}

// Everything at once, for the race detector and the books.
func TestStreamsConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stream.Store{Limits: stream.Limits{Events: 16, Retained: 8}, Budget: &stream.Budget{Max: 40_000}}
		var wg sync.WaitGroup
		for i := range 32 {
			handle := ""
			if i%2 == 0 {
				handle = "h"
			}
			st := open(t, &s, handle)
			wg.Go(func() {
				for range 200 {
					_ = st.Send(make([]byte, 100))
				}
				_ = st.SendLast([]byte("end"))
			})
			for range 2 {
				wg.Go(func() {
					for range 10 {
						r, err := st.Attach(0)
						if err != nil {
							continue
						}
						for {
							if _, end := r.Take(); end != nil {
								break
							}
							<-r.Ready()
						}
						r.Close()
					}
				})
			}
			wg.Go(func() { st.Release(io.EOF); st.Cut(io.EOF); st.Final() })
			if i%5 == 0 {
				wg.Go(st.Drop)
			}
		}
		wg.Wait()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		// Streams without ids that nobody reads to the end stay: that is the
		// caller's to drop.
		if open := s.Open(); open != 0 {
			t.Errorf("%d streams open", open)
		}
	})
}
