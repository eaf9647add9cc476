package task_test

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/task"
)

// encoded is a store that holds nothing but bytes beside what it has to look
// for: each record goes through the codec on its way in and out.
type encoded struct{ task.Memory }

func through(r task.Record) task.Record {
	out, err := task.Decode(r.Encode())
	if err != nil {
		panic(err)
	}
	return out
}

func (e *encoded) Create(ctx context.Context, r task.Record, b task.Bounds) error {
	return e.Memory.Create(ctx, through(r), b)
}

func (e *encoded) Get(ctx context.Context, key string) (task.Record, error) {
	r, err := e.Memory.Get(ctx, key)
	return through(r), err
}

func (e *encoded) Update(ctx context.Context, r task.Record) error {
	return e.Memory.Update(ctx, through(r))
}

func (e *encoded) List(ctx context.Context, owner string, after task.Position, n int) ([]task.Record, error) {
	out, err := e.Memory.List(ctx, owner, after, n)
	for i := range out {
		out[i] = through(out[i])
	}
	return out, err
}

func (e *encoded) Due(ctx context.Context, now time.Time, n int) ([]task.Record, error) {
	out, err := e.Memory.Due(ctx, now, n)
	for i := range out {
		out[i] = through(out[i])
	}
	return out, err
}
