package task_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// W35.9: the legal moves, and that a terminal state is final.
func TestMoves(t *testing.T) {
	legal := map[task.Status]string{
		task.Working:       "working input_required completed failed cancelled",
		task.InputRequired: "working input_required completed failed cancelled",
		task.Completed:     "", task.Failed: "", task.Cancelled: "",
	}
	for _, from := range task.Statuses() {
		for _, to := range task.Statuses() {
			want := strings.Contains(" "+legal[from]+" ", " "+string(to)+" ")
			if got := from.To(to); got != want {
				t.Errorf("%s to %s: %v", from, to, got)
			}
		}
		if from.Terminal() != (legal[from] == "") {
			t.Errorf("%s: terminal %v", from, from.Terminal())
		}
	}
	if task.Status("").To(task.Working) || task.Working.To("other") {
		t.Error("moves with no status")
	}
}

// W35.9, W35.19, W36.11: what the work came to decides how the task ends.
func TestEnds(t *testing.T) {
	own := jsonrpc.Errorf(-7, "mine")
	tests := map[string]struct {
		run     task.Run
		status  task.Status
		result  string
		code    int64
		reason  string
		message string
		isError bool
		panics  int
	}{
		"a result": {says(`{"content":[]}`), task.Completed, `{"content":[]}`, 0, "", "", false, 0},
		"a tool error": {says(`{"isError":true,"content":[{"type":"image"},{"type":"text","text":"it broke"},{"text":"b"}]}`), task.Completed,
			`{"isError":true,"content":[{"type":"image"},{"type":"text","text":"it broke"},{"text":"b"}]}`, 0, "", "it broke", true, 0},
		"a tool error without a word": {says(`{"isError":true}`), task.Completed, `{"isError":true}`, 0, "", "the tool reported an error", true, 0},
		"isError that is no":          {says(`{"isError":false}`), task.Completed, `{"isError":false}`, 0, "", "", false, 0},
		"a protocol error": {func(context.Context, *task.Handle) jsonrpc.Outcome { return jsonrpc.Fail(own) },
			task.Failed, "", -7, "", "mine", false, 0},
		"nothing": {func(context.Context, *task.Handle) jsonrpc.Outcome { return jsonrpc.Outcome{} },
			task.Failed, "", -32603, "", "no answer", false, 0},
		"a panic": {func(context.Context, *task.Handle) jsonrpc.Outcome { panic("boom") },
			task.Failed, "", -32603, "", "internal error", false, 1},
		"a result as large as it may be": {says(`"` + strings.Repeat("x", 98) + `"`), task.Completed, `"` + strings.Repeat("x", 98) + `"`, 0, "", "", false, 0},
		"a larger one":                   {says(`"` + strings.Repeat("x", 99) + `"`), task.Failed, "", -32603, "result_too_large", "the result is larger than 100 bytes", false, 0},
		"an error that is too large": {func(context.Context, *task.Handle) jsonrpc.Outcome {
			return jsonrpc.Fail(&jsonrpc.Error{Code: 1, Data: make([]byte, 101)})
		}, task.Failed, "", -32603, "result_too_large", "the result is larger than 100 bytes", false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, task.Options{ResultBytes: 100}, func(t *testing.T, r *rig) {
				made := r.start(alice, call, tt.run)
				if made.Status != task.Working || made.Method != "tools/call" || !made.Outcome.IsZero() {
					t.Errorf("made %+v", made)
				}
				got := r.status(alice, made.ID, tt.status)
				if string(got.Outcome.Result) != tt.result || got.IsError != tt.isError || got.Message != tt.message {
					t.Errorf("got %+v", got)
				}
				if err := got.Outcome.Err; (err != nil) != (tt.code != 0) || err != nil && (err.Code != tt.code || err.Reason() != tt.reason) {
					t.Errorf("got %+v", err)
				}
				if r.panics != tt.panics {
					t.Errorf("%d panics observed", r.panics)
				}
				if f := got.Final(); string(f.Result) != tt.result || f.Err != got.Outcome.Err {
					t.Errorf("final %+v", f)
				}
			})
		})
	}
}

// W36.8, W35.7: a task can be found before its work begins.
func TestATaskIsKeptBeforeItRuns(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		found := make(chan error, 1)
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			_, err := r.Get(ctx, alice, h.ID())
			found <- err
			return jsonrpc.Result([]byte(`{}`))
		})
		if err := <-found; err != nil {
			t.Error(err)
		}
		if got := r.status(alice, made.ID, task.Completed); got.ID != made.ID {
			t.Errorf("id %s became %s", made.ID, got.ID)
		}
	})
}

// The work outlives the request's context and sees its values.
func TestTheWorkOutlivesItsRequest(t *testing.T) {
	type key struct{}
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		made, err := r.Start(ctx, alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			time.Sleep(time.Minute)
			if ctx.Err() != nil || ctx.Value(key{}) != "v" || h.Context() != ctx {
				t.Errorf("context %v", ctx)
			}
			return jsonrpc.Result([]byte(`{"kept":1}`))
		})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(time.Minute)
		if got := r.status(alice, made.ID, task.Completed); string(got.Outcome.Result) != `{"kept":1}` {
			t.Errorf("got %+v", got)
		}
	})
}

// W35.15, W35.9: cancelled before the answer, for ever, and the work is told.
func TestCancel(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		cause := make(chan error, 1)
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			h.Status("too late")
			return jsonrpc.Result([]byte(`{"late":true}`))
		})
		got, err := r.Cancel(t.Context(), alice, made.ID, "not needed")
		if err != nil || got.Status != task.Cancelled || got.Message != "not needed" {
			t.Errorf("got %+v, %v", got, err)
		}
		is(t, <-cause, task.ErrCancelled)
		got = r.status(alice, made.ID, task.Cancelled)
		if got.Message != "not needed" || !got.Outcome.IsZero() || got.Final().Err.Reason() != "cancelled" { // W40.12
			t.Errorf("got %+v", got)
		}
		got, err = r.Cancel(t.Context(), alice, made.ID, "again")
		is(t, err, task.ErrOver)
		if got.Status != task.Cancelled || got.Message != "not needed" {
			t.Errorf("got %+v", got)
		}
		if r.drops[hook.DropLate] != 1 {
			t.Errorf("drops %v", r.drops)
		}
		if want := ">working working>cancelled"; strings.Join(r.moves, " ") != want {
			t.Errorf("moves %v", r.moves)
		}
	})
}

func TestCancelOfACompletedTask(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, says(`{"a":1}`))
		synctest.Wait()
		got, err := r.Cancel(t.Context(), alice, made.ID, "")
		is(t, err, task.ErrOver)
		if got.Status != task.Completed || string(r.get(alice, made.ID).Outcome.Result) != `{"a":1}` {
			t.Errorf("got %+v", got)
		}
	})
}

// W35.9: of a completion and many cancels one wins, and it stays so.
func TestCompleteAgainstCancel(t *testing.T) {
	for range 20 {
		bubble(t, task.Options{}, func(t *testing.T, r *rig) {
			made := r.start(alice, call, after(time.Second, `{}`))
			errs := make([]error, 16)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() {
					time.Sleep(time.Second)
					_, errs[i] = r.Cancel(context.Background(), alice, made.ID, "")
				})
			}
			all.Wait()
			synctest.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else {
					is(t, err, task.ErrOver)
				}
			}
			got := r.get(alice, made.ID)
			if won > 1 || (won == 1) != (got.Status == task.Cancelled) || !got.Status.Terminal() {
				t.Errorf("%d cancels won, the task is %s", won, got.Status)
			}
			time.Sleep(time.Minute)
			if later := r.status(alice, made.ID, got.Status); later.Changes != got.Changes {
				t.Error("it changed")
			}
		})
	}
}

// W35.12, W36.20: wishes are bounded, and a task is kept for exactly what was
// granted: not shorter, not longer.
func TestTimeToLive(t *testing.T) {
	o := task.Options{MinTTL: 10 * time.Second, MaxTTL: 10 * time.Minute, DefaultTTL: time.Minute}
	tests := map[string]struct{ wish, granted time.Duration }{
		"no wish":           {0, time.Minute},
		"a wish":            {2 * time.Minute, 2 * time.Minute},
		"too little":        {time.Second, 10 * time.Second},
		"too much":          {time.Hour, 10 * time.Minute},
		"for ever":          {1<<63 - 1, 10 * time.Minute},
		"parts of a milli":  {time.Minute + time.Nanosecond, time.Minute + time.Millisecond},
		"less than nothing": {-time.Hour, time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, o, func(t *testing.T, r *rig) {
				made := r.start(alice, task.Spec{TTL: tt.wish}, says(`{}`))
				if made.TTL != tt.granted {
					t.Fatalf("granted %s", made.TTL)
				}
				time.Sleep(tt.granted - time.Nanosecond)
				r.status(alice, made.ID, task.Completed)
				time.Sleep(time.Nanosecond)
				_, err := r.Get(t.Context(), alice, made.ID)
				is(t, err, task.ErrUnknown)
			})
		})
	}
}

// A running task that expires is stopped, and the sweep takes what is left.
func TestExpiryStopsTheWork(t *testing.T) {
	store := &task.Memory{}
	bubble(t, task.Options{Store: store, DefaultTTL: time.Minute, Sweep: 30 * time.Second}, func(t *testing.T, r *rig) {
		cause := make(chan error, 1)
		made := r.start(alice, call, func(ctx context.Context, _ *task.Handle) jsonrpc.Outcome {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return jsonrpc.Outcome{}
		})
		time.Sleep(time.Minute)
		is(t, <-cause, task.ErrExpired)
		for name, err := range map[string]error{
			"cancel": second(r.Cancel(t.Context(), alice, made.ID, "")),
			"answer": second(r.Answer(t.Context(), alice, made.ID, nil)),
			"wait":   second(r.Wait(t.Context(), alice, made.ID, 0)),
			"result": second(r.Result(t.Context(), alice, made.ID, nil)),
		} {
			if !errors.Is(err, task.ErrUnknown) {
				t.Errorf("%s: %v", name, err)
			}
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if left, err := store.Due(t.Context(), time.Now().Add(time.Hour), 9); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
		if want := ">working working>"; strings.Join(r.moves, " ") != want {
			t.Errorf("moves %v", r.moves)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// W36.7: the work may change how long its task is kept and how often to ask.
func TestTheWorkSetsItsTime(t *testing.T) {
	bubble(t, task.Options{MaxTTL: time.Hour, DefaultTTL: time.Minute, Sweep: time.Hour}, func(t *testing.T, r *rig) {
		began := time.Now()
		ended := make(chan time.Duration, 1)
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			h.KeepFor(10 * time.Minute)
			h.PollEvery(7 * time.Second)
			<-ctx.Done()
			ended <- time.Since(began)
			return jsonrpc.Outcome{}
		})
		if got := r.status(alice, made.ID, task.Working); got.TTL != 10*time.Minute || got.Poll != 7*time.Second {
			t.Errorf("got %+v", got)
		}
		time.Sleep(10*time.Minute - time.Nanosecond)
		r.status(alice, made.ID, task.Working)
		time.Sleep(time.Nanosecond)
		_, err := r.Get(t.Context(), alice, made.ID)
		is(t, err, task.ErrUnknown)
		if after := <-ended; after != 10*time.Minute {
			t.Errorf("the work ended after %s", after)
		}
	})
}

// Times of a task keep the monotonic clock, so that a step of the wall clock
// neither ends nor revives it (P33.10).
func TestTheWallClockMayJump(t *testing.T) {
	e, err := task.New(task.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { is(t, e.Close(t.Context()), nil) }()
	made, err := e.Start(t.Context(), alice, call, says(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(made.Created.String(), "m=") {
		t.Errorf("%s is wall time only", made.Created)
	}
}

// The injected clock decides what has expired.
func TestTheClockIsInjected(t *testing.T) {
	var mu sync.Mutex
	now := time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	bubble(t, task.Options{Now: clock, DefaultTTL: time.Minute}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, says(`{}`))
		if got := r.status(alice, made.ID, task.Completed); !got.Created.Equal(now) {
			t.Errorf("created %s", got.Created)
		}
		mu.Lock()
		now = now.Add(time.Minute)
		mu.Unlock()
		_, err := r.Get(t.Context(), alice, made.ID)
		is(t, err, task.ErrUnknown)
	})
}

// W35.22: bounds per principal, in all, and of what runs.
func TestBounds(t *testing.T) {
	bubble(t, task.Options{PerOwner: 2, Total: 3, Running: 10}, func(t *testing.T, r *rig) {
		for range 2 {
			r.start(alice, call, says(`{}`)) // what is over counts until it is deleted
		}
		_, err := r.Start(t.Context(), alice, call, says(`{}`))
		is(t, err, task.ErrOwnerFull)
		r.start(bob, call, says(`{}`))
		_, err = r.Start(t.Context(), bob, call, says(`{}`))
		is(t, err, task.ErrFull)
		if got := task.RPC(err); got.Code != jsonrpc.CodeInternal || got.Reason() != task.ReasonLimit {
			t.Errorf("got %+v", got)
		}
		if len(r.refused) != 2 || r.refused[0] != hook.TaskOwnerFull || r.refused[1] != hook.TaskFull {
			t.Errorf("refused %v", r.refused)
		}
	})
	bubble(t, task.Options{Running: 1}, func(t *testing.T, r *rig) {
		first := r.start(alice, call, stubborn(time.Minute))
		if _, err := r.Cancel(t.Context(), alice, first.ID, ""); err != nil {
			t.Fatal(err)
		}
		_, err := r.Start(t.Context(), alice, call, says(`{}`)) // the goroutine is still there
		is(t, err, task.ErrBusy)
		time.Sleep(time.Minute)
		synctest.Wait()
		r.start(alice, call, says(`{}`))
		if len(r.refused) != 1 || r.refused[0] != hook.TaskBusy {
			t.Errorf("refused %v", r.refused)
		}
	})
}

// P22: anonymous callers are counted by their bucket, not all together.
func TestAnonymousCallersHaveBuckets(t *testing.T) {
	bubble(t, task.Options{PerOwner: 1}, func(t *testing.T, r *rig) {
		one, two := task.Owner{Bucket: "10.0.0.1"}, task.Owner{Bucket: "10.0.0.2"}
		made := r.start(one, call, says(`{}`))
		_, err := r.Start(t.Context(), one, call, says(`{}`))
		is(t, err, task.ErrOwnerFull)
		r.start(two, call, says(`{}`))
		r.status(two, made.ID, task.Completed) // the id is what an anonymous caller has
	})
}

// D3: nothing is left running, and who asks later learns why it failed.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, keys := &task.Memory{}, keyring(t)
		r := newRig(t, task.Options{Store: store, Keys: keys})
		cause := make(chan error, 1)
		running := r.start(alice, call, func(ctx context.Context, _ *task.Handle) jsonrpc.Outcome {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return jsonrpc.Outcome{}
		})
		done := r.start(alice, call, says(`{}`))
		synctest.Wait()
		waits := make(chan error, 1)
		go func() { waits <- second(r.Wait(context.Background(), alice, running.ID, 99)) }()
		synctest.Wait()
		r.close()
		r.close()
		is(t, <-cause, task.ErrClosed)
		if err := <-waits; !errors.Is(err, task.ErrClosed) {
			t.Errorf("who waited got %v", err)
		}
		_, err := r.Start(t.Context(), alice, call, says(`{}`))
		is(t, err, task.ErrClosed)

		next := newRig(t, task.Options{Store: store, Keys: keys})
		got := next.status(alice, running.ID, task.Failed)
		if got.Outcome.Err.Reason() != task.ReasonRestarted { // B12.16
			t.Errorf("got %+v", got.Outcome.Err)
		}
		next.status(alice, done.ID, task.Completed) // results survive the process
		next.close()
	})
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, task.Options{})
		r.start(alice, call, stubborn(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is(t, r.Close(ctx), context.DeadlineExceeded)
		time.Sleep(2 * time.Hour)
		r.close()
	})
}

// Who waits for a task that is over hears when it is gone, and a sweep takes
// all there is.
func TestTheSweep(t *testing.T) {
	store := &task.Memory{}
	bubble(t, task.Options{Store: store, PerOwner: 1000, Running: 1000, DefaultTTL: time.Minute, Sweep: 61 * time.Second, Refresh: time.Hour}, func(t *testing.T, r *rig) {
		for range 600 {
			r.start(alice, call, says(`{}`))
		}
		last := r.start(alice, task.Spec{TTL: time.Hour}, says(`{}`))
		first := r.start(alice, call, says(`{}`))
		synctest.Wait()
		gone := make(chan error, 1)
		go func() { gone <- second(r.Wait(context.Background(), alice, first.ID, 99)) }()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		select {
		case err := <-gone:
			is(t, err, task.ErrUnknown)
		default:
			t.Error("who waits was not told")
		}
		if left, err := store.Due(t.Context(), time.Now().Add(2*time.Hour), 1000); err != nil || len(left) != 1 || left[0].Token != last.ID {
			t.Errorf("%d left, %v", len(left), err)
		}
	})
}

// Who hears of a task's changes may panic: the task goes on to its end.
func TestAPanicInChangedEndsNothing(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		spec := call
		spec.Changed = func(task.Task) { panic("changed") }
		made := r.start(alice, spec, says(`{"content":[]}`))
		r.status(alice, made.ID, task.Completed)
		if r.panics == 0 {
			t.Error("nobody was told of a panic")
		}
	})
}
