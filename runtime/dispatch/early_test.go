package dispatch_test

import (
	"fmt"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// W4.7, P18: what waits for a client that has not come back after initialize is
// bounded, counted by the budget, and gone with the session.
func TestWhatWaitsForTheClientIsBounded(t *testing.T) {
	for _, returns := range []bool{true, false} {
		lost := 0
		observer := &hook.Observer{Dropped: func(hook.Drop) { lost++ }}
		store := &stream.Store{Budget: &stream.Budget{}}
		registry := &session.Registry{Streams: store, Observer: observer}
		inner, err := registry.New(session.Params{Key: "s", Profile: profile("2025-11-25")})
		if err != nil {
			t.Fatal(err)
		}
		l := (&dispatch.Dispatcher{Server: &retiring{}, Observer: observer}).Adopt(inner)
		for i := range session.MaxQueue + 5 {
			if err := l.Notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/n","params":{"n":%d}}`, i)); err != nil {
				t.Fatal(err)
			}
		}
		if lost != 5 || store.Budget.Used() == 0 {
			t.Errorf("%d lost, %d bytes held", lost, store.Budget.Used())
		}
		if returns {
			l.Ready() // and now it waits for a stream
			st, err := l.OpenStandalone("h", nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			reader, err := st.Attach(0)
			if err != nil {
				t.Fatal(err)
			}
			if events, _ := reader.Take(); len(events) != session.MaxQueue {
				t.Errorf("%d events", len(events))
			}
			reader.Close()
		}
		l.Close(nil)
		if used := store.Budget.Used(); used != 0 || lost != 5 {
			t.Errorf("%d bytes after the end, %d lost", used, lost)
		}
	}
}
