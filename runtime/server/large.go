package server

import (
	"context"
	"runtime"

	"github.com/fairlead-dev/fairlead/runtime/schema"
)

// largeValue is from where on a value has to wait for its turn to be taken
// apart.
const largeValue = 64 << 10

// turns bound how many large values are taken apart at once. As Go values they
// are up to thirty times their size, and a processor works on one at a time: so
// many need no more room than few, and are done no later.
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0))) }

// validate holds a value against a schema. The error is the schema's, or the
// cause of a context that ended before its turn came.
func (t turns) validate(ctx context.Context, s *schema.Schema, value []byte) error {
	if len(value) > largeValue {
		select {
		case t <- struct{}{}:
			defer func() { <-t }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return s.Validate(value)
}
