package task_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// rig is an engine in a bubble of virtual time, and what it reported.
type rig struct {
	*task.Engine
	t *testing.T

	mu      sync.Mutex
	moves   []string
	refused []hook.TaskRefusal
	drops   map[hook.Drop]int
	panics  int
}

var (
	alice = task.Owner{Principal: "alice"}
	bob   = task.Owner{Principal: "bob"}
	call  = task.Spec{Method: "tools/call"}
)

// bubble runs f with an engine that is closed in the end.
func bubble(t *testing.T, o task.Options, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, o)
		f(t, r)
		r.close()
	})
}

func newRig(t *testing.T, o task.Options) *rig {
	t.Helper()
	r := &rig{t: t, drops: map[hook.Drop]int{}}
	o.Observer = &hook.Observer{
		TaskMoved: func(from, to hook.TaskStatus) {
			r.locked(func() { r.moves = append(r.moves, string(from)+">"+string(to)) })
		},
		TaskRefused: func(x hook.TaskRefusal) { r.locked(func() { r.refused = append(r.refused, x) }) },
		Dropped:     func(d hook.Drop) { r.locked(func() { r.drops[d]++ }) },
		Panicked:    func(any, []byte) { r.locked(func() { r.panics++ }) },
	}
	e, err := task.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Engine = e
	return r
}

func (r *rig) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *rig) close() {
	r.t.Helper()
	if err := r.Close(r.t.Context()); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) start(owner task.Owner, spec task.Spec, run task.Run) task.Task {
	r.t.Helper()
	got, err := r.Start(r.t.Context(), owner, spec, run)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) get(owner task.Owner, id string) task.Task {
	r.t.Helper()
	got, err := r.Get(r.t.Context(), owner, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) status(owner task.Owner, id string, want task.Status) task.Task {
	r.t.Helper()
	synctest.Wait()
	got := r.get(owner, id)
	if got.Status != want {
		r.t.Errorf("status %s, want %s", got.Status, want)
	}
	return got
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// says returns a run that ends with a result.
func says(result string) task.Run {
	return func(context.Context, *task.Handle) jsonrpc.Outcome { return jsonrpc.Result([]byte(result)) }
}

// after returns a run that takes a while, or less if it is stopped.
func after(d time.Duration, result string) task.Run {
	return func(ctx context.Context, _ *task.Handle) jsonrpc.Outcome {
		select {
		case <-time.After(d):
			return jsonrpc.Result([]byte(result))
		case <-ctx.Done():
			return jsonrpc.Fail(task.RPC(context.Cause(ctx)))
		}
	}
}

// stubborn returns a run that does not heed its context.
func stubborn(d time.Duration) task.Run {
	return func(context.Context, *task.Handle) jsonrpc.Outcome {
		time.Sleep(d)
		return jsonrpc.Result([]byte(`{"late":true}`))
	}
}

func keyring(t *testing.T) *seal.Keyring {
	t.Helper()
	k := &seal.Keyring{}
	if err := k.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	return k
}
