package task_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

func question(name string) task.Question {
	return task.Question{Name: name, Method: "elicitation/create", Params: []byte(`{"message":"` + name + `?"}`)}
}

// asks returns a run that asks rounds of questions and ends with the answers.
func asks(rounds ...[]task.Question) task.Run {
	return func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
		var said []string
		for _, round := range rounds {
			answers, err := h.Ask(ctx, round...)
			if err != nil {
				return jsonrpc.Fail(task.RPC(err))
			}
			for _, a := range answers {
				if a.Err != nil {
					said = append(said, a.Err.Message)
					continue
				}
				said = append(said, string(a.Result))
			}
		}
		return jsonrpc.Result([]byte(`[` + strings.Join(said, ",") + `]`))
	}
}

func keys(t task.Task) (out []string) {
	for _, in := range t.Inputs {
		out = append(out, in.Key)
	}
	return out
}

func answer(pairs ...string) map[string]jsonrpc.Outcome {
	out := map[string]jsonrpc.Outcome{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = jsonrpc.Result([]byte(pairs[i+1]))
	}
	return out
}

// W36.10, W36.13: all that waits is shown; answers may come one by one, unknown
// and answered keys are ignored, and the task goes on when all are in.
func TestAskAndAnswer(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a"), question("b")}))
		got := r.status(alice, made.ID, task.InputRequired)
		if !slices.Equal(keys(got), []string{"a-1", "b-2"}) || got.Inputs[0].Method != "elicitation/create" || string(got.Inputs[1].Params) != `{"message":"b?"}` {
			t.Fatalf("got %+v", got.Inputs)
		}
		steps := []struct {
			answers map[string]jsonrpc.Outcome
			left    []string
			status  task.Status
		}{
			{answer("c-3", `1`, "", `2`, "__proto__", `3`), []string{"a-1", "b-2"}, task.InputRequired},
			{answer("b-2", `"B"`), []string{"a-1"}, task.InputRequired},
			{answer("b-2", `"other"`), []string{"a-1"}, task.InputRequired},
			{map[string]jsonrpc.Outcome{"a-1": {}}, []string{"a-1"}, task.InputRequired}, // no answer at all
			{nil, []string{"a-1"}, task.InputRequired},
		}
		for i, step := range steps {
			got, err := r.Answer(t.Context(), alice, made.ID, step.answers)
			if err != nil || got.Status != step.status || !slices.Equal(keys(got), step.left) {
				t.Errorf("step %d: %+v, %v", i, got, err)
			}
			if again := r.status(alice, made.ID, step.status); !slices.Equal(keys(again), step.left) {
				t.Errorf("step %d: then %v", i, keys(again))
			}
		}
		got, err := r.Answer(t.Context(), alice, made.ID, answer("a-1", `"A"`))
		if err != nil || got.Status != task.Working {
			t.Errorf("got %+v, %v", got, err)
		}
		got = r.status(alice, made.ID, task.Completed)
		if string(got.Outcome.Result) != `["A","B"]` || len(got.Inputs) > 0 {
			t.Errorf("got %s", got.Outcome.Result)
		}
		if got, err := r.Answer(t.Context(), alice, made.ID, answer("a-1", `"late"`)); err != nil || got.Status != task.Completed {
			t.Errorf("a terminal task: %+v, %v", got, err)
		}
	})
}

// W36.12: a key is never used again, whatever name the work gives.
func TestKeysAreNeverReused(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		same := []task.Question{question("same")}
		long := []task.Question{question(strings.Repeat("☃", 100))}
		made := r.start(alice, call, asks(same, same, []task.Question{question("")}, long))
		var all []string
		for range 4 {
			got := r.status(alice, made.ID, task.InputRequired)
			all = append(all, keys(got)...)
			if _, err := r.Answer(t.Context(), alice, made.ID, answer(keys(got)[0], `1`)); err != nil {
				t.Fatal(err)
			}
		}
		r.status(alice, made.ID, task.Completed)
		if want := []string{"same-1", "same-2", "input-3"}; !slices.Equal(all[:3], want) || len(all[3]) > 70 || !strings.HasSuffix(all[3], "-4") {
			t.Errorf("keys %q", all)
		}
	})
}

// W35.10: the state is left when nothing is asked any more, also because the
// work does not want to know.
func TestQuestionsAreTakenBack(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := h.Ask(ctx, question("a"))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			<-h.Context().Done()
			return jsonrpc.Outcome{}
		})
		r.status(alice, made.ID, task.InputRequired)
		time.Sleep(time.Minute)
		if got := r.status(alice, made.ID, task.Working); len(got.Inputs) > 0 {
			t.Errorf("left %v", got.Inputs)
		}
		got, err := r.Answer(t.Context(), alice, made.ID, answer("a-1", `1`))
		if err != nil || got.Status != task.Working {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestAskEndsWithTheTask(t *testing.T) {
	bubble(t, task.Options{DefaultTTL: time.Hour}, func(t *testing.T, r *rig) {
		ends := make(chan error, 2)
		run := func(_ context.Context, h *task.Handle) jsonrpc.Outcome {
			_, err := h.Ask(context.Background(), question("a"))
			ends <- err
			return jsonrpc.Fail(task.RPC(err))
		}
		first, second := r.start(alice, call, run), r.start(alice, call, run)
		r.status(alice, first.ID, task.InputRequired)
		if _, err := r.Cancel(t.Context(), alice, first.ID, ""); err != nil {
			t.Fatal(err)
		}
		is(t, <-ends, task.ErrCancelled)
		if got := r.status(alice, first.ID, task.Cancelled); len(got.Inputs) > 0 {
			t.Errorf("a cancelled task asks %v", got.Inputs)
		}
		r.status(alice, second.ID, task.InputRequired)
		time.Sleep(time.Hour)
		is(t, <-ends, task.ErrExpired)
	})
}

func TestQuestionsAndAnswersAreBounded(t *testing.T) {
	bubble(t, task.Options{Inputs: 2, InputBytes: 32}, func(t *testing.T, r *rig) {
		errs := make(chan error, 3)
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			for _, round := range [][]task.Question{
				{question("a"), question("b"), question("c")},
				{{Name: "large", Params: make([]byte, 33)}},
			} {
				_, err := h.Ask(ctx, round...)
				errs <- err
			}
			return asks([]task.Question{question("a")})(ctx, h)
		})
		is(t, <-errs, task.ErrInputs)
		is(t, <-errs, task.ErrInputs)
		got := r.status(alice, made.ID, task.InputRequired)
		_, err := r.Answer(t.Context(), alice, made.ID, answer(keys(got)[0], strings.Repeat(" ", 33)))
		is(t, err, task.ErrInputs)
		if got := task.RPC(err); got.Reason() != task.ReasonLimit {
			t.Errorf("got %+v", got)
		}
		r.status(alice, made.ID, task.InputRequired)
	})
}

func TestAskNothing(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{}))
		r.status(alice, made.ID, task.Completed)
	})
}

// Several parts of the work may ask at once.
func TestAskFromSeveralSides(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			done := make(chan string, 2)
			for _, name := range []string{"a", "b"} {
				go func() {
					got, err := h.Ask(ctx, question(name))
					if err != nil {
						t.Error(err)
						return
					}
					done <- name + string(got[0].Result)
				}()
			}
			both := []string{<-done, <-done}
			slices.Sort(both)
			return jsonrpc.Result([]byte(`"` + both[0] + both[1] + `"`))
		})
		got := r.status(alice, made.ID, task.InputRequired)
		for _, in := range got.Inputs {
			if _, err := r.Answer(t.Context(), alice, made.ID, answer(in.Key, in.Key[:1])); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if got := r.status(alice, made.ID, task.Completed); string(got.Outcome.Result) != `"aabb"` {
			t.Errorf("got %s", got.Outcome.Result)
		}
	})
}

// The bound counts what waits already.
func TestQuestionsAreBoundedTogether(t *testing.T) {
	bubble(t, task.Options{Inputs: 2}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			go func() { _, _ = h.Ask(ctx, question("a"), question("b")) }()
			time.Sleep(time.Second)
			_, err := h.Ask(ctx, question("c"))
			return jsonrpc.Fail(task.RPC(err))
		})
		time.Sleep(time.Second)
		if got := r.status(alice, made.ID, task.Failed); got.Outcome.Err.Reason() != task.ReasonLimit {
			t.Errorf("got %+v", got)
		}
	})
}
