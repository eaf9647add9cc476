package task_test

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

func engine(b *testing.B, o task.Options) *task.Engine {
	b.Helper()
	e, err := task.New(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

// BenchmarkStart is a task from its creation to its end, waited for.
func BenchmarkStart(b *testing.B) {
	e := engine(b, task.Options{PerOwner: 1 << 30, Total: 1 << 30, Store: &task.Memory{MaxBytes: 1 << 40}, StoreTimeout: -1})
	b.ReportAllocs()
	for b.Loop() {
		done := make(chan struct{})
		_, err := e.Start(b.Context(), alice, call, func(context.Context, *task.Handle) jsonrpc.Outcome {
			close(done)
			return jsonrpc.Result([]byte(`{"content":[]}`))
		})
		if err != nil {
			b.Fatal(err)
		}
		<-done
	}
}

// BenchmarkGet is tasks/get of the extension, encoding included.
func BenchmarkGet(b *testing.B) {
	e := engine(b, task.Options{})
	made, err := e.Start(b.Context(), alice, call, func(ctx context.Context, _ *task.Handle) jsonrpc.Outcome {
		<-ctx.Done()
		return jsonrpc.Outcome{}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := e.Get(b.Context(), alice, made.ID)
		if err != nil {
			b.Fatal(err)
		}
		_ = got.ModernGet()
	}
}

// BenchmarkGetUnknown is an id that is not the caller's: it must not cost more
// than one that is.
func BenchmarkGetUnknown(b *testing.B) {
	e := engine(b, task.Options{})
	made, err := e.Start(b.Context(), alice, call, says(`{}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Get(b.Context(), bob, made.ID); err == nil {
			b.Fatal("found")
		}
	}
}
