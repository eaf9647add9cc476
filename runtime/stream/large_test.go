package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// P18: large takers have three quarters of the budget together; one that is
// larger than that has them to itself, and never waits for itself.
func TestLargeTakersWaitForOneAnother(t *testing.T) {
	b := &stream.Budget{Max: 1000}
	now, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	first, err := b.EnterLarge(now, 700, 0)
	if first != 700 || err != nil {
		t.Fatalf("the first: %d, %v", first, err)
	}
	if held, err := b.EnterLarge(now, 51, 0); err == nil {
		t.Errorf("there is room for %d more", held)
	}
	more, err := b.EnterLarge(now, 500, first)
	if more != 50 || err != nil {
		t.Errorf("the first has all of it: %d, %v", more, err)
	}
	if b.Used() != 0 || !b.AcquireNow(1000) {
		t.Error("waiting among the large ones takes nothing of the budget")
	}
	b.LeaveLarge(first + more)
	if held, err := b.EnterLarge(now, 5000, 0); held != 750 || err != nil {
		t.Errorf("larger than the room: %d, %v", held, err)
	}
}
