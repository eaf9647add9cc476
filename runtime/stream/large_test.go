package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// P18: large takers have three quarters of the budget together; one that is
// larger than that has them to itself.
func TestLargeTakersWaitForOneAnother(t *testing.T) {
	b := &stream.Budget{Max: 1000}
	now, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	first, err := b.EnterLarge(now, 700)
	if first != 700 || err != nil {
		t.Fatalf("the first: %d, %v", first, err)
	}
	if held, err := b.EnterLarge(now, 51); held != 0 || err == nil {
		t.Errorf("there is room for %d more", held)
	}
	if b.Used() != 0 || !b.AcquireNow(1000) {
		t.Error("waiting among the large ones takes nothing of the budget")
	}
	b.LeaveLarge(first)
	if held, err := b.EnterLarge(now, 5000); held != 750 || err != nil {
		t.Errorf("larger than the room: %d, %v", held, err)
	}
}
