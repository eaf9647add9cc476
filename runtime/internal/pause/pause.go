// Package pause waits. It knows nothing of what for.
package pause

import (
	"context"
	"time"
)

// For waits so long; it returns ctx's cause if that ended first.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
