package task_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/tasktest"
)

// A message a second is written, whatever the work says, and the newest.
func TestStatusMessagesAreThrottled(t *testing.T) {
	bubble(t, task.Options{StatusEvery: time.Second}, func(t *testing.T, r *rig) {
		var mu sync.Mutex
		var told []string
		spec := task.Spec{Method: "tools/call", Message: "begun", Changed: func(got task.Task) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, got.Message)
		}}
		made := r.start(alice, spec, func(_ context.Context, h *task.Handle) jsonrpc.Outcome {
			for i := range 300 { // three seconds
				h.Status(strings.Repeat("i", i))
				time.Sleep(10 * time.Millisecond)
			}
			h.Status("last")
			return jsonrpc.Result([]byte(`{}`))
		})
		if made.Message != "begun" {
			t.Errorf("made %+v", made)
		}
		time.Sleep(2*time.Second + 5*time.Millisecond)
		if got := r.status(alice, made.ID, task.Working); len(got.Message) < 199 || len(got.Message) > 201 || !got.Updated.After(got.Created) {
			t.Errorf("got %+v", got)
		}
		time.Sleep(time.Minute)
		got := r.status(alice, made.ID, task.Completed)
		if got.Message != "last" || got.Changes != 6 {
			t.Errorf("got %+v", got)
		}
		if len(told) < 4 || len(told) > 5 || told[len(told)-1] != "last" {
			t.Errorf("told %d times, last %q", len(told), told[len(told)-1])
		}
	})
}

func TestStatusMessagesAreBounded(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			h.Status("x" + strings.Repeat("☃", task.MaxMessage) + "\xff")
			<-ctx.Done()
			h.Status("over")
			return jsonrpc.Outcome{}
		})
		got := r.status(alice, made.ID, task.Working).Message
		if len(got) > task.MaxMessage || len(got) < task.MaxMessage-3 || !utf8.ValidString(got) {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// Changed is told in order, up to the end, whoever changes the task.
func TestChangedIsTold(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		var mu sync.Mutex
		var told []task.Status
		spec := task.Spec{Changed: func(got task.Task) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, got.Status)
		}}
		made := r.start(alice, spec, asks([]task.Question{question("a")}))
		r.status(alice, made.ID, task.InputRequired)
		if _, err := r.Answer(t.Context(), alice, made.ID, answer("a-1", "1")); err != nil {
			t.Fatal(err)
		}
		r.status(alice, made.ID, task.Completed)
		cancelled := r.start(alice, spec, stubborn(time.Minute))
		synctest.Wait()
		if _, err := r.Cancel(t.Context(), alice, cancelled.ID, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(told); n < 3 || told[0] != task.InputRequired || told[n-2] != task.Completed || told[n-1] != task.Cancelled {
			t.Errorf("told %v", told)
		}
	})
}

// A message that could not be written is not forgotten, and a newer one counts
// more.
func TestStatusMessagesSurviveTheStore(t *testing.T) {
	var mu sync.Mutex
	var meanwhile func()
	down := true
	store := &tasktest.Flaky{Store: &task.Memory{}, Fail: func(op tasktest.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if !down || op != tasktest.OpUpdate {
			return nil
		}
		if meanwhile != nil {
			meanwhile()
			meanwhile = nil
		}
		return errors.New("down")
	}}
	bubble(t, task.Options{Store: store}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			mu.Lock()
			meanwhile = func() { h.Status("new") } // while the old one is being written
			mu.Unlock()
			h.Status("old")
			h.PollEvery(time.Minute)
			<-ctx.Done()
			return jsonrpc.Outcome{}
		})
		time.Sleep(10 * time.Second)
		if got := r.status(alice, made.ID, task.Working); got.Message != "" {
			t.Errorf("got %+v", got)
		}
		mu.Lock()
		down = false
		mu.Unlock()
		time.Sleep(2 * time.Second)
		if got := r.status(alice, made.ID, task.Working); got.Message != "new" || got.Poll != time.Minute {
			t.Errorf("got %+v", got)
		}
	})
}

// A store without room for a result still has room to say so.
func TestAResultThatFindsNoRoom(t *testing.T) {
	bubble(t, task.Options{Store: &task.Memory{MaxBytes: 1 << 10}}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, says(`"`+strings.Repeat("x", 2000)+`"`))
		if got := r.status(alice, made.ID, task.Failed); got.Outcome.Err.Reason() != task.ReasonTooLarge {
			t.Errorf("got %+v", got)
		}
	})
}
