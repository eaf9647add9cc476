package proxy

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// notified is a leg that keeps what the workload is told.
type notified struct {
	upstream.Leg
	lines []string
	fails bool
}

func (l *notified) Notify(_ context.Context, method string, params []byte) error {
	if l.fails {
		return errors.New("gone")
	}
	l.lines = append(l.lines, method+" "+string(params))
	return nil
}

// B7.13: while a client is asked, the workload that gave a token hears every 15
// seconds that it is not forgotten, and nothing once it is answered or gone.
func TestAWorkloadThatWaitsIsReassured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leg := &notified{}
		f := &flight{lease: upstream.Lease{Leg: leg}}
		ctx, answered := context.WithTimeout(t.Context(), 50*time.Second)
		defer answered()
		began := time.Now()
		f.reassure(ctx, []byte(`"t"`))
		want := []string{
			`notifications/progress {"progressToken":"t","progress":1}`,
			`notifications/progress {"progressToken":"t","progress":2}`,
			`notifications/progress {"progressToken":"t","progress":3}`,
		}
		if took := time.Since(began); took != 50*time.Second || !slices.Equal(leg.lines, want) {
			t.Errorf("in %v: %q", took, leg.lines)
		}
		leg.fails = true
		began = time.Now()
		f.reassure(t.Context(), []byte(`1`))
		if took := time.Since(began); took != stillThere {
			t.Errorf("a leg that is gone is told for %v", took)
		}
	})
}
