package task_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

type ended struct {
	task.Task
	err error
}

// result waits for a task in the background.
func (r *rig) result(ctx context.Context, id string, carry task.Carry) <-chan ended {
	out := make(chan ended, 1)
	go func() {
		got, err := r.Result(ctx, alice, id, carry)
		out <- ended{got, err}
	}()
	synctest.Wait()
	return out
}

func waits(t *testing.T, c <-chan ended) {
	t.Helper()
	synctest.Wait()
	select {
	case e := <-c:
		t.Errorf("ended with %+v", e)
	default:
	}
}

// client is who is asked; it answers when told to.
type client struct {
	mu    sync.Mutex
	asked []string
	gone  int // questions that were called back
	say   chan jsonrpc.Outcome
}

func newClient() *client { return &client{say: make(chan jsonrpc.Outcome)} }

func (c *client) carry(ctx context.Context, in task.Input) (jsonrpc.Outcome, bool) {
	c.mu.Lock()
	c.asked = append(c.asked, in.Key)
	c.mu.Unlock()
	select {
	case o := <-c.say:
		return o, true
	case <-ctx.Done():
		c.mu.Lock()
		c.gone++
		c.mu.Unlock()
		return jsonrpc.Outcome{}, false
	}
}

func (c *client) was(t *testing.T, asked, gone int) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) != asked || c.gone != gone {
		t.Errorf("asked %v, %d called back; want %d and %d", c.asked, c.gone, asked, gone)
	}
}

// W35.13: not terminal, so it blocks; then it is what the request came to.
func TestResultWaits(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, after(time.Minute, `{"a":1}`))
		got := r.result(t.Context(), made.ID, nil)
		waits(t, got)
		time.Sleep(time.Minute)
		if e := <-got; e.err != nil || string(e.Final().Result) != `{"a":1}` {
			t.Errorf("got %+v", e)
		}
		if e := <-r.result(t.Context(), made.ID, nil); e.err != nil || string(e.Final().Result) != `{"a":1}` {
			t.Errorf("at once: %+v", e)
		}
	})
}

func TestResultEnds(t *testing.T) {
	mine := errors.New("mine")
	bubble(t, task.Options{DefaultTTL: time.Hour}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, after(2*time.Hour, `{}`))
		ctx, cancel := context.WithCancelCause(t.Context())
		got := r.result(ctx, made.ID, nil)
		cancel(mine)
		if e := <-got; !errors.Is(e.err, mine) {
			t.Errorf("got %+v", e)
		}
		r.status(alice, made.ID, task.Working) // who asked is gone, the task is not
		cancelled := r.result(t.Context(), made.ID, nil)
		if _, err := r.Cancel(t.Context(), alice, made.ID, ""); err != nil {
			t.Fatal(err)
		}
		if e := <-cancelled; e.err != nil || e.Final().Err.Reason() != "cancelled" { // W40.12
			t.Errorf("got %+v", e)
		}
	})
}

// W35.10, B12.4: the questions of a task travel on the stream that waits for
// it, on one of them if there are several, and on another when that one ends.
func TestResultCarriesQuestions(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a"), question("b")}, []task.Question{question("c")}))
		one, two := newClient(), newClient()
		ctx, cancel := context.WithCancel(t.Context())
		first := r.result(ctx, made.ID, one.carry)
		one.was(t, 2, 0)
		second := r.result(t.Context(), made.ID, two.carry)
		two.was(t, 0, 0)
		one.say <- jsonrpc.Result([]byte(`"A"`))
		one.was(t, 2, 0)
		cancel()
		if e := <-first; !errors.Is(e.err, context.Canceled) {
			t.Errorf("got %+v", e)
		}
		one.was(t, 2, 1)
		two.was(t, 1, 0) // what was left
		two.say <- jsonrpc.Fail(jsonrpc.Errorf(-1, `"no"`))
		two.was(t, 2, 0) // the next round
		waits(t, second)
		two.say <- jsonrpc.Result([]byte(`"C"`))
		e := <-second
		if got := string(e.Outcome.Result); e.err != nil || got != `["A","no","C"]` && got != `["no","A","C"]` {
			t.Errorf("got %s, %v", got, e.err)
		}
	})
}

// A question that was answered another way, or taken back, is called back.
func TestResultCallsBack(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a"), question("b")}))
		c := newClient()
		got := r.result(t.Context(), made.ID, c.carry)
		c.was(t, 2, 0)
		if _, err := r.Answer(t.Context(), alice, made.ID, answer("a-1", `"other way"`)); err != nil {
			t.Fatal(err)
		}
		c.was(t, 2, 1)
		waits(t, got)
		c.say <- jsonrpc.Result([]byte(`"this way"`))
		if e := <-got; string(e.Outcome.Result) != `["other way","this way"]` {
			t.Errorf("got %+v", e)
		}
	})
}

// A stream that cannot carry a question does not try again; another one does.
func TestResultWithoutAWayToTheClient(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a")}))
		tries := 0
		deaf := r.result(t.Context(), made.ID, func(context.Context, task.Input) (jsonrpc.Outcome, bool) {
			tries++
			return jsonrpc.Outcome{}, false
		})
		time.Sleep(10 * time.Minute)
		waits(t, deaf)
		if tries != 1 {
			t.Errorf("%d tries", tries)
		}
		r.status(alice, made.ID, task.InputRequired)
		c := newClient()
		got := r.result(t.Context(), made.ID, c.carry)
		c.was(t, 1, 0)
		c.say <- jsonrpc.Result([]byte(`1`))
		for _, ch := range []<-chan ended{got, deaf} {
			if e := <-ch; string(e.Outcome.Result) != `[1]` {
				t.Errorf("got %+v", e)
			}
		}
	})
}

// A person may take longer than any claim on a question lasts.
func TestResultKeepsItsQuestion(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a")}))
		one, two := newClient(), newClient()
		first := r.result(t.Context(), made.ID, one.carry)
		second := r.result(t.Context(), made.ID, two.carry)
		time.Sleep(30 * time.Minute)
		one.was(t, 1, 0)
		two.was(t, 0, 0)
		one.say <- jsonrpc.Result([]byte(`1`))
		<-first
		<-second
	})
}

// An answer too large for the store is the work's error, not nobody's.
func TestResultBoundsAnswers(t *testing.T) {
	bubble(t, task.Options{InputBytes: 64}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a")}))
		c := newClient()
		got := r.result(t.Context(), made.ID, c.carry)
		c.say <- jsonrpc.Result(make([]byte, 65))
		if e := <-got; string(e.Outcome.Result) != `[the task asks for too much at once]` {
			t.Errorf("got %+v", e)
		}
	})
}

// Wait hears of each change, and of none that a client cannot see.
func TestWait(t *testing.T) {
	bubble(t, task.Options{StatusEvery: time.Nanosecond}, func(t *testing.T, r *rig) {
		step := make(chan string)
		made := r.start(alice, call, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
			for message := range step {
				h.Status(message)
			}
			return asks([]task.Question{question("a"), question("b")})(ctx, h)
		})
		since := made.Changes
		next := func(do func()) task.Task {
			t.Helper()
			out := make(chan ended, 1)
			go func() {
				got, err := r.Wait(t.Context(), alice, made.ID, since)
				out <- ended{got, err}
			}()
			waits(t, out)
			do()
			e := <-out
			is(t, e.err, nil)
			since = e.Changes
			return e.Task
		}
		if got := next(func() { step <- "half" }); got.Message != "half" {
			t.Errorf("got %+v", got)
		}
		if got := next(func() { step <- "half"; time.Sleep(time.Second); step <- "all" }); got.Message != "all" {
			t.Errorf("got %+v", got)
		}
		if got := next(func() { close(step) }); got.Status != task.InputRequired {
			t.Errorf("got %+v", got)
		}
		if got := next(func() { _, _ = r.Answer(t.Context(), alice, made.ID, answer("a-1", "1")) }); len(got.Inputs) != 1 {
			t.Errorf("got %+v", got)
		}
		claim := r.result(t.Context(), made.ID, newClient().carry) // changes the record, not what is seen
		if got := next(func() { _, _ = r.Cancel(t.Context(), alice, made.ID, "") }); got.Status != task.Cancelled {
			t.Errorf("got %+v", got)
		}
		<-claim
		if got, err := r.Wait(t.Context(), alice, made.ID, since-1); err != nil || got.Status != task.Cancelled {
			t.Errorf("at once: %+v, %v", got, err)
		}
	})
}

// What a person answered counts, also when the stream ends at that moment, and
// when the store cannot be used.
func TestNoAnswerIsLost(t *testing.T) {
	t.Run("the stream ends", func(t *testing.T) {
		bubble(t, task.Options{}, func(t *testing.T, r *rig) {
			made := r.start(alice, call, asks([]task.Question{question("a")}))
			ctx, cancel := context.WithCancel(t.Context())
			got := r.result(ctx, made.ID, func(ctx context.Context, _ task.Input) (jsonrpc.Outcome, bool) {
				<-ctx.Done()
				return jsonrpc.Result([]byte(`"just in time"`)), true
			})
			cancel()
			is(t, (<-got).err, context.Canceled)
			if got := r.status(alice, made.ID, task.Completed); string(got.Outcome.Result) != `["just in time"]` {
				t.Errorf("got %s", got.Outcome.Result)
			}
		})
	})
	t.Run("the store is down", func(t *testing.T) {
		store, set := breakable()
		bubble(t, task.Options{Store: store}, func(t *testing.T, r *rig) {
			made := r.start(alice, call, asks([]task.Question{question("a")}))
			c := newClient()
			got := r.result(t.Context(), made.ID, c.carry)
			c.was(t, 1, 0)
			set(true)
			time.Sleep(time.Minute)
			c.was(t, 1, 0)
			c.say <- jsonrpc.Result([]byte(`"yes"`))
			time.Sleep(time.Minute)
			set(false)
			time.Sleep(10 * time.Second)
			if e := <-got; string(e.Outcome.Result) != `["yes"]` {
				t.Errorf("got %+v", e)
			}
		})
	})
}
