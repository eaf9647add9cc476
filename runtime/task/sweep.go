package task

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// sweepBatch is how many records one step of a sweep takes.
const sweepBatch = 256

// sweeper deletes what has expired and fails what was abandoned, until the
// engine ends. Several engines over one store do not hinder each other.
func (e *Engine) sweeper() {
	ticker := time.NewTicker(e.o.Sweep)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			e.sweep(e.base)
		case <-e.base.Done():
			return
		}
	}
}

func (e *Engine) sweep(ctx context.Context) {
	now := e.o.Now()
	for {
		due, err := e.due(ctx, now)
		if err != nil {
			return // the next sweep comes
		}
		done := 0
		for i := range due {
			if e.lookAfter(ctx, &due[i], now) {
				done++
			}
		}
		if len(due) < sweepBatch || done == 0 {
			return
		}
	}
}

func (e *Engine) due(ctx context.Context, now time.Time) ([]Record, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	return e.o.Store.Due(ctx, now, sweepBatch)
}

// lookAfter does what is due, and reports whether that is done.
func (e *Engine) lookAfter(ctx context.Context, r *Record, now time.Time) bool {
	if now.Before(r.Expires) {
		return e.abandon(ctx, r.Key, now)
	}
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	if err := e.o.Store.Delete(ctx, r.Key, r.Version); err != nil {
		return errors.Is(err, ErrNotFound)
	}
	e.moved(r.Status, "")
	e.o.Notifier.Wake(r.Key)
	return true
}

// abandon fails a task whose runner has not been heard of (B12.16).
func (e *Engine) abandon(ctx context.Context, key string, now time.Time) bool {
	end := e.ending(patch{}, jsonrpc.Fail(abandoned()))
	_, err := e.change(ctx, key, func(r *Record) error {
		if r.Due().After(now) {
			return errUnchanged // it was heard of after all
		}
		return end(r)
	})
	return err == nil || errors.Is(err, ErrOver) || errors.Is(err, ErrUnknown)
}
