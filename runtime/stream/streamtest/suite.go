// Package streamtest is the suite that every stream.Events passes.
package streamtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// Subject is a store under test, with the bounds that it was made with.
type Subject struct {
	Events stream.Events
	// PerStream and BytesPerStream bound one stream; at least 4 events and
	// 4 KiB.
	PerStream      int
	BytesPerStream int64
	// Streams bounds the streams, 0 if the store has no bound that can be
	// reached.
	Streams int
}

// Run runs the suite. open makes an empty store for each test; what must be
// closed is closed by the test's Cleanup.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"events come back in order":             order,
		"absence is no error":                   absence,
		"numbers may skip, and repeat":          numbers,
		"streams do not touch each other":       apart,
		"the bound in events":                   boundEvents,
		"the bound in bytes":                    boundBytes,
		"one event over the bound is held":      single,
		"the bound in streams":                  boundStreams,
		"what is given and returned stays":      aliasing,
		"a context that has ended does nothing": cancelled,
		"many at once":                          concurrent,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func add(t *testing.T, s Subject, handle string, seq uint64, data string) {
	t.Helper()
	if err := s.Events.Append(t.Context(), handle, stream.Event{Seq: seq, Data: []byte(data)}); err != nil {
		t.Fatal(err)
	}
}

// after returns what follows seq as text; "lost" when it cannot be had.
func after(t *testing.T, s Subject, handle string, seq uint64) string {
	t.Helper()
	events, ok, err := s.Events.After(t.Context(), handle, seq)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		if len(events) > 0 {
			t.Error("lost, and there")
		}
		return "lost"
	}
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%d:%.20s", e.Seq, e.Data))
	}
	return strings.Join(out, " ")
}

func expect(t *testing.T, s Subject, handle string, seq uint64, want string) {
	t.Helper()
	if got := after(t, s, handle, seq); got != want {
		t.Errorf("after %d of %q: %q, want %q", seq, handle, got, want)
	}
}

func order(t *testing.T, s Subject) {
	for i := range uint64(3) {
		add(t, s, "a.b/c", i+1, fmt.Sprintf(`{"n":%d}`, i))
	}
	expect(t, s, "a.b/c", 0, `1:{"n":0} 2:{"n":1} 3:{"n":2}`)
	expect(t, s, "a.b/c", 2, `3:{"n":2}`)
	expect(t, s, "a.b/c", 3, "")
	expect(t, s, "a.b/c", 99, "") // beyond the end: nothing to replay
}

func absence(t *testing.T, s Subject) {
	expect(t, s, "none", 0, "lost")
	if err := s.Events.Drop(t.Context(), "none"); err != nil {
		t.Error(err)
	}
	add(t, s, "a", 1, "x")
	if err := s.Events.Drop(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	expect(t, s, "a", 0, "lost")
	expect(t, s, "a", 1, "lost")
}

func numbers(t *testing.T, s Subject) {
	for _, seq := range []uint64{2, 5, 5, 3, 1 << 60} {
		add(t, s, "a", seq, fmt.Sprint(seq))
	}
	expect(t, s, "a", 0, "2:2 5:5 1152921504606846976:1152921504606846976")
	expect(t, s, "a", 4, "5:5 1152921504606846976:1152921504606846976")
}

func apart(t *testing.T, s Subject) {
	add(t, s, "a", 1, "a")
	add(t, s, "b", 1, "b")
	add(t, s, "a ", 1, "c")
	if err := s.Events.Drop(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	expect(t, s, "b", 0, "1:b")
	expect(t, s, "a ", 0, "1:c")
}

func boundEvents(t *testing.T, s Subject) {
	n := uint64(s.PerStream)
	for seq := uint64(1); seq <= n+2; seq++ {
		add(t, s, "a", seq, "x")
	}
	expect(t, s, "a", 0, "lost")
	expect(t, s, "a", 1, "lost")
	events, ok, err := s.Events.After(t.Context(), "a", 2)
	if err != nil || !ok || len(events) != s.PerStream || events[0].Seq != 3 {
		t.Errorf("%d events, %v, %v", len(events), ok, err)
	}
}

func boundBytes(t *testing.T, s Subject) {
	part := strings.Repeat("x", int(s.BytesPerStream/3))
	for seq := uint64(1); seq <= 4; seq++ {
		add(t, s, "a", seq, part)
	}
	expect(t, s, "a", 0, "lost")
	events, ok, err := s.Events.After(t.Context(), "a", 3)
	if err != nil || !ok || len(events) != 1 {
		t.Fatalf("%d events, %v, %v", len(events), ok, err)
	}
	total := 0
	for seq := uint64(0); seq < 4; seq++ {
		if events, ok, _ := s.Events.After(t.Context(), "a", seq); ok {
			for _, e := range events {
				total += len(e.Data)
			}
			break
		}
	}
	if int64(total) > s.BytesPerStream {
		t.Errorf("%d bytes are held", total)
	}
}

func single(t *testing.T, s Subject) {
	add(t, s, "a", 1, "x")
	add(t, s, "a", 2, strings.Repeat("y", int(s.BytesPerStream)+1))
	events, ok, err := s.Events.After(t.Context(), "a", 1)
	if err != nil || !ok || len(events) != 1 || int64(len(events[0].Data)) != s.BytesPerStream+1 {
		t.Errorf("%d events, %v, %v", len(events), ok, err)
	}
}

func boundStreams(t *testing.T, s Subject) {
	if s.Streams == 0 {
		t.Log("the store has no bound of its own")
		return
	}
	for i := range s.Streams {
		add(t, s, fmt.Sprint(i), 1, "x")
	}
	add(t, s, "0", 2, "y") // the second is now the oldest
	add(t, s, "more", 1, "z")
	expect(t, s, "more", 0, "1:z")
	expect(t, s, "0", 0, "1:x 2:y")
	expect(t, s, "1", 0, "lost")
}

func aliasing(t *testing.T, s Subject) {
	data := []byte("abc")
	if err := s.Events.Append(t.Context(), "a", stream.Event{Seq: 1, Data: data}); err != nil {
		t.Fatal(err)
	}
	data[0] = 'X'
	expect(t, s, "a", 0, "1:abc")
}

func cancelled(t *testing.T, s Subject) {
	add(t, s, "a", 1, "x")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	_, _, err := s.Events.After(ctx, "a", 0)
	for name, err := range map[string]error{
		"Append": s.Events.Append(ctx, "a", stream.Event{Seq: 2}), "After": err, "Drop": s.Events.Drop(ctx, "a"),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	expect(t, s, "a", 0, "1:x")
}

func concurrent(t *testing.T, s Subject) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			handle := fmt.Sprint(i % 3)
			for seq := uint64(1); seq < 50; seq++ {
				if err := s.Events.Append(t.Context(), handle, stream.Event{Seq: seq, Data: []byte("x")}); err != nil {
					t.Error(err)
				}
				events, ok, err := s.Events.After(t.Context(), handle, seq-1)
				if err != nil {
					t.Error(err)
				}
				for n := 1; ok && n < len(events); n++ {
					if events[n].Seq <= events[n-1].Seq {
						t.Error("out of order")
					}
				}
			}
			_ = s.Events.Drop(t.Context(), handle)
		})
	}
	all.Wait()
}
