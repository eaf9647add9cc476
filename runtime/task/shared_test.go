package task_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/tasktest"
)

var errTrouble = errors.New("connection refused")

// breakable is a store that can be set to fail.
func breakable() (task.Store, func(down bool)) {
	var down atomic.Bool
	return &tasktest.Flaky{Store: &task.Memory{}, Fail: func(tasktest.Op) error {
		if down.Load() {
			return errTrouble
		}
		return nil
	}}, down.Store
}

// Two engines over one store, without a notifier between them: the store is
// the only truth, and looking again makes up for what was not heard.
func TestTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, keys := &encoded{}, keyring(t)
		o := task.Options{Store: store, Keys: keys, Refresh: time.Second}
		here, there := newRig(t, o), newRig(t, o)

		cause := make(chan error, 1)
		made := here.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			o := asks([]task.Question{question("a")})(ctx, h)
			h.Status(string(o.Result))
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return jsonrpc.Outcome{}
		})
		there.status(alice, made.ID, task.InputRequired)
		if _, err := there.Answer(t.Context(), alice, made.ID, answer("a-1", `"yes"`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := there.status(alice, made.ID, task.Working); got.Message != `["yes"]` {
			t.Errorf("got %+v", got)
		}
		waited := here.result(t.Context(), made.ID, nil)
		if _, err := there.Cancel(t.Context(), alice, made.ID, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		is(t, <-cause, task.ErrCancelled)
		if e := <-waited; e.Status != task.Cancelled {
			t.Errorf("got %+v", e)
		}
		if tasks, _, err := there.List(t.Context(), alice, "", 0); err != nil || len(tasks) != 1 || tasks[0].ID != made.ID {
			t.Errorf("listed %v, %v", tasks, err)
		}
		here.close()
		there.close()
	})
}

// B12.16: whoever runs a task and is not heard of any more has lost it; who is
// alive keeps it.
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		var writes atomic.Int32
		store := &task.Memory{}
		keys := keyring(t)
		flaky := &tasktest.Flaky{Store: store, Fail: func(op tasktest.Op) error {
			if dead.Load() {
				return errTrouble
			}
			if op == tasktest.OpUpdate {
				writes.Add(1)
			}
			return nil
		}}
		o := task.Options{Keys: keys, Lease: time.Minute, Sweep: 10 * time.Second, Refresh: time.Second}
		o.Store = flaky
		dying := newRig(t, o)
		o.Store = store
		living := newRig(t, o)
		lost := dying.start(alice, call, after(10*time.Hour, `{}`))
		kept := living.start(alice, call, after(30*time.Minute, `{"kept":1}`))
		time.Sleep(10 * time.Minute)
		living.status(alice, lost.ID, task.Working) // both renew
		if n := writes.Load(); n < 10 || n > 31 {
			t.Errorf("renewed %d times", n)
		}
		dead.Store(true)
		time.Sleep(75 * time.Second)
		got := living.status(alice, lost.ID, task.Failed)
		if got.Outcome.Err.Reason() != task.ReasonRestarted || got.Message == "" {
			t.Errorf("got %+v", got)
		}
		living.status(alice, kept.ID, task.Working)
		time.Sleep(30 * time.Minute)
		living.status(alice, kept.ID, task.Completed)
		dead.Store(false)
		time.Sleep(time.Minute)
		living.status(alice, lost.ID, task.Failed) // also when the lost one comes back
		dying.close()
		living.close()
	})
}

// What a store that is down means, operation by operation: never
// "unknown task", never a task that was not kept, and the work goes on.
func TestTheStoreIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, set := breakable()
		r := newRig(t, task.Options{Store: store})
		release := make(chan struct{})
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			<-release
			if ctx.Err() != nil {
				t.Error("the work was stopped")
			}
			return jsonrpc.Result([]byte(`{"kept":1}`))
		})
		synctest.Wait()
		set(true)
		ran := false
		_, startErr := r.Start(t.Context(), alice, call, func(context.Context, *task.Handle) jsonrpc.Outcome {
			ran = true
			return jsonrpc.Outcome{}
		})
		_, _, listErr := r.List(t.Context(), alice, "", 0)
		for name, err := range map[string]error{
			"start": startErr, "list": listErr,
			"get":    second(r.Get(t.Context(), alice, made.ID)),
			"cancel": second(r.Cancel(t.Context(), alice, made.ID, "")),
			"answer": second(r.Answer(t.Context(), alice, made.ID, answer("a-1", "1"))),
			"result": second(r.Result(t.Context(), alice, made.ID, nil)),
		} {
			if !errors.Is(err, task.ErrStore) || !errors.Is(err, errTrouble) || errors.Is(err, task.ErrUnknown) {
				t.Errorf("%s: %v", name, err)
			}
			if got := task.RPC(err); got.Code != jsonrpc.CodeInternal || got.Reason() != task.ReasonStore || got.Message != "the task store is unavailable" {
				t.Errorf("%s: %+v", name, got)
			}
		}
		close(release)
		time.Sleep(time.Minute)
		set(false)
		time.Sleep(5 * time.Second)
		if got := r.status(alice, made.ID, task.Completed); string(got.Outcome.Result) != `{"kept":1}` || ran {
			t.Errorf("got %+v, ran %v", got, ran)
		}
		r.close()
	})
}

// A store that hangs costs no more than StoreTimeout.
func TestTheStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, task.Options{Store: hanging{}, StoreTimeout: 250 * time.Millisecond})
		began := time.Now()
		_, err := r.Start(t.Context(), alice, call, says(`{}`))
		is(t, err, task.ErrStore)
		if took := time.Since(began); took != 250*time.Millisecond {
			t.Errorf("took %s", took)
		}
		if got := task.RPC(err); got.Reason() != task.ReasonStore {
			t.Errorf("got %+v", got)
		}
		r.close()
	})
}

type hanging struct{ task.Store }

func (hanging) Create(ctx context.Context, _ task.Record, _ task.Bounds) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) Due(ctx context.Context, _ time.Time, _ int) ([]task.Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Whatever fails at random, each task that a client was told of ends as its
// work did or as it was cancelled, and every error says what it is.
func TestAStoreThatFailsAtRandom(t *testing.T) {
	errTrouble := errors.New("random")
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			dice := rand.New(rand.NewPCG(seed, 1))
			calm := false
			store := &tasktest.Flaky{Store: &encoded{}, Fail: func(tasktest.Op) error {
				mu.Lock()
				defer mu.Unlock()
				if !calm && dice.IntN(3) == 0 {
					return errTrouble
				}
				return nil
			}}
			r := newRig(t, task.Options{Store: store, Refresh: time.Second})
			type told struct {
				id     string
				cancel bool
			}
			var all []told
			for i := range 30 {
				made, err := r.Start(t.Context(), alice, call, after(time.Duration(i)*time.Second, `{"done":1}`))
				if err != nil {
					is(t, err, task.ErrStore)
					continue
				}
				one := told{id: made.ID}
				if i%3 == 0 {
					_, err := r.Cancel(t.Context(), alice, made.ID, "")
					one.cancel = err == nil
					if err != nil && !errors.Is(err, task.ErrStore) && !errors.Is(err, task.ErrOver) {
						t.Error(err)
					}
				}
				all = append(all, one)
			}
			time.Sleep(5 * time.Minute)
			mu.Lock()
			calm = true
			mu.Unlock()
			time.Sleep(10 * time.Second)
			for _, one := range all {
				want := task.Completed
				if one.cancel {
					want = task.Cancelled
				}
				r.status(alice, one.id, want)
			}
			if len(all) == 0 {
				t.Error("nothing was started")
			}
			r.close()
		})
	}
}

// B12.4: a question whose carrier has died with its process is carried by
// another one.
func TestTheCarrierDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, keys := &task.Memory{}, keyring(t)
		var dead atomic.Bool
		flaky := &tasktest.Flaky{Store: store, Fail: func(tasktest.Op) error {
			if dead.Load() {
				return errTrouble
			}
			return nil
		}}
		living := newRig(t, task.Options{Store: store, Keys: keys, Refresh: time.Second})
		dying := newRig(t, task.Options{Store: flaky, Keys: keys, Refresh: time.Second})
		made := living.start(alice, call, asks([]task.Question{question("a")}))
		lost, found := newClient(), newClient()
		living.status(alice, made.ID, task.InputRequired)
		ctx, cancel := context.WithCancel(t.Context())
		first := dying.result(ctx, made.ID, lost.carry)
		lost.was(t, 1, 0)
		dead.Store(true)
		second := living.result(t.Context(), made.ID, found.carry)
		found.was(t, 0, 0)
		time.Sleep(2 * time.Minute)
		found.was(t, 1, 0)
		found.say <- jsonrpc.Result([]byte(`1`))
		if e := <-second; string(e.Outcome.Result) != `[1]` {
			t.Errorf("got %+v", e)
		}
		cancel()
		<-first
		dead.Store(false)
		dying.close()
		living.close()
	})
}

// A sweep that comes late does not take a task for abandoned that was heard of
// meanwhile.
func TestALeaseRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &stale{}
		r := newRig(t, task.Options{Store: store, Lease: time.Hour, Sweep: time.Minute})
		made := r.start(alice, call, after(3*time.Hour/2, `{}`))
		time.Sleep(time.Hour - time.Second)
		r.status(alice, made.ID, task.Working)
		if store.asked == 0 {
			t.Error("no sweep came")
		}
		r.close()
	})
}

// stale says of every task that it is due.
type stale struct {
	task.Memory
	asked int
}

func (s *stale) Due(ctx context.Context, now time.Time, n int) ([]task.Record, error) {
	s.asked++
	return s.Memory.Due(ctx, now.Add(24*time.Hour), n)
}

// A task that was not made leaves no place taken.
func TestWhatWasNotMadeTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, set := breakable()
		r := newRig(t, task.Options{Store: store, Running: 1})
		set(true)
		for range 3 {
			_, err := r.Start(t.Context(), alice, call, says(`{}`))
			is(t, err, task.ErrStore)
		}
		set(false)
		r.start(alice, call, says(`{}`))
		r.close()
	})
}
