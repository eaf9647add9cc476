package tasktest

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Op is a method of a task.Store.
type Op string

// The operations.
const (
	OpCreate Op = "create"
	OpGet    Op = "get"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
	OpList   Op = "list"
	OpDue    Op = "due"
)

// Flaky is a Store that fails when Fail says so.
type Flaky struct {
	task.Store
	// Fail is asked before each operation; an error is returned instead of
	// doing it. It may be called concurrently.
	Fail func(Op) error
}

var _ task.Store = (*Flaky)(nil)

// Create implements task.Store.
func (f *Flaky) Create(ctx context.Context, r task.Record, b task.Bounds) error {
	if err := f.Fail(OpCreate); err != nil {
		return err
	}
	return f.Store.Create(ctx, r, b)
}

// Get implements task.Store.
func (f *Flaky) Get(ctx context.Context, key string) (task.Record, error) {
	if err := f.Fail(OpGet); err != nil {
		return task.Record{}, err
	}
	return f.Store.Get(ctx, key)
}

// Update implements task.Store.
func (f *Flaky) Update(ctx context.Context, r task.Record) error {
	if err := f.Fail(OpUpdate); err != nil {
		return err
	}
	return f.Store.Update(ctx, r)
}

// Delete implements task.Store.
func (f *Flaky) Delete(ctx context.Context, key string, version uint64) error {
	if err := f.Fail(OpDelete); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key, version)
}

// List implements task.Store.
func (f *Flaky) List(ctx context.Context, owner string, after task.Position, n int) ([]task.Record, error) {
	if err := f.Fail(OpList); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, owner, after, n)
}

// Due implements task.Store.
func (f *Flaky) Due(ctx context.Context, now time.Time, n int) ([]task.Record, error) {
	if err := f.Fail(OpDue); err != nil {
		return nil, err
	}
	return f.Store.Due(ctx, now, n)
}
