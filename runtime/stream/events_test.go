package stream_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/stream/streamtest"
)

func TestMemory(t *testing.T) {
	streamtest.Run(t, func(t *testing.T) streamtest.Subject {
		budget := &stream.Budget{}
		m := &stream.Memory{Limits: stream.Limits{Events: 8, Bytes: 8 << 10, Retained: 4}, Budget: budget}
		t.Cleanup(func() {
			for _, handle := range []string{"a", "a.b/c", "b", "a ", "0", "1", "2", "3", "more"} {
				_ = m.Drop(context.Background(), handle) // the test's own has ended
			}
			if used := budget.Used(); used != 0 {
				t.Errorf("%d bytes of the budget were not given back", used)
			}
		})
		return streamtest.Subject{Events: m, PerStream: 8, BytesPerStream: 8 << 10, Streams: 4}
	})
}

// The budget of the process is a bound as well: the streams that were written
// to longest ago make room, and one that does not fit alone is refused whole.
func TestMemoryBudget(t *testing.T) {
	budget := &stream.Budget{Max: 4 << 10}
	m := &stream.Memory{Budget: budget}
	kib := make([]byte, 1<<10)
	for _, handle := range []string{"a", "b", "c", "d"} {
		if err := m.Append(t.Context(), handle, stream.Event{Seq: 1, Data: kib}); err != nil {
			t.Fatal(err)
		}
	}
	for handle, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true} {
		if _, ok, _ := m.After(t.Context(), handle, 0); ok != want {
			t.Errorf("%s: %v", handle, ok)
		}
	}
	if err := m.Append(t.Context(), "big", stream.Event{Seq: 1, Data: make([]byte, 5<<10)}); !errors.Is(err, stream.ErrFull) {
		t.Error(err)
	}
	if _, ok, _ := m.After(t.Context(), "big", 0); ok || budget.Used() != 0 {
		t.Errorf("%v, %d bytes", ok, budget.Used())
	}
}
