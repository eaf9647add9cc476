package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/schema"
)

// P18: large values are taken apart in turns, small ones pass by, and whoever
// gives up waiting is let go.
func TestLargeValuesTakeTurns(t *testing.T) {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	large := []byte(`{"a":"` + strings.Repeat("x", largeValue) + `"}`)
	wrong := []byte(`{"a":[` + strings.Repeat("1,", largeValue) + `1]}`)
	synctest.Test(t, func(t *testing.T) {
		turn := make(turns, 1)
		if err := turn.validate(t.Context(), s, large); err != nil {
			t.Error(err)
		}
		var invalid *schema.Invalid
		if err := turn.validate(t.Context(), s, wrong); !errors.As(err, &invalid) {
			t.Errorf("got %v", err)
		}
		turn <- struct{}{} // somebody is at it
		if err := turn.validate(t.Context(), s, []byte(`{"a":"x"}`)); err != nil {
			t.Errorf("a small value: %v", err)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		ends := make(chan error, 2)
		go func() { ends <- turn.validate(ctx, s, large) }()
		synctest.Wait()
		cancel(gone)
		if err := <-ends; !errors.Is(err, gone) {
			t.Errorf("gave up with %v", err)
		}
		go func() { ends <- turn.validate(t.Context(), s, large) }()
		synctest.Wait()
		select {
		case err := <-ends:
			t.Errorf("did not wait: %v", err)
		default:
		}
		<-turn
		if err := <-ends; err != nil {
			t.Error(err)
		}
	})
}
