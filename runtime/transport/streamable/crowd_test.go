package streamable_test

import (
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

// D5, P18: 200 clients that read and two that do not: everybody else has each
// broadcast at once, whatever the two do.
func TestSlowReadersDelayNobody(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		var sessions []dispatch.Session
		open := func() *events {
			e := l.stream(call{method: "GET", header: on(l.connect("2025-11-25", "{}"))})
			e.next()
			sessions = append(sessions, b.session(len(sessions)))
			return e
		}
		stalled := []*events{open(), open()}
		var healthy []*events
		for range 200 {
			healthy = append(healthy, open())
		}
		for round := range 400 { // more than a stalled client's ring holds
			began := time.Now()
			for _, s := range sessions {
				if err := s.Notify(note(round)); err != nil {
					t.Fatal(err)
				}
			}
			var wg sync.WaitGroup
			for _, e := range healthy {
				wg.Go(func() {
					if got := string(e.message().Data); got != string(note(round)) {
						t.Errorf("round %d: %s", round, got)
					}
				})
			}
			wg.Wait()
			if took := time.Since(began); took != 0 {
				t.Fatalf("round %d took %v", round, took)
			}
		}
		for _, e := range healthy {
			e.close()
		}
		for _, e := range stalled {
			e.close()
		}
	})
}
