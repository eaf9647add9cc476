package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/transport/queue"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errFinished = errors.New("finished")

func take(q *queue.Queue) string {
	msgs, done := q.Take()
	return fmt.Sprintf("%s %v", msgs, done)
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(2, 10, errFinished)
		if err := q.Push(t.Context(), make([]byte, 100)); err != nil { // one is always admitted
			t.Error(err)
		}
		if full, err := q.Try([]byte("b")); !full || err != nil {
			t.Errorf("%v %v", full, err)
		}
		q.Take()
		for _, m := range []string{"a", "b"} {
			if full, err := q.Try([]byte(m)); full || err != nil {
				t.Errorf("%v %v", full, err)
			}
		}
		if full, _ := q.Try([]byte("c")); !full {
			t.Error("a third message was taken")
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := q.Push(ctx, []byte("c")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		pushed := make(chan error)
		go func() { pushed <- q.Push(t.Context(), []byte("c")) }()
		synctest.Wait()
		if got := take(q); got != "[a b] false" {
			t.Error(got)
		}
		if err := <-pushed; err != nil {
			t.Error(err)
		}
		if got := take(q); got != "[c] false" {
			t.Error(got)
		}
	})
}

func TestEnds(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		end   func(q *queue.Queue)
		taken string
		err   error
	}{
		"finish runs empty":  {func(q *queue.Queue) { q.Finish() }, "[a] true", errFinished},
		"fail drops":         {func(q *queue.Queue) { q.Fail(broken) }, "[] true", broken},
		"the first failure":  {func(q *queue.Queue) { q.Fail(broken); q.Fail(errors.New("later")) }, "[] true", broken},
		"fail after finish":  {func(q *queue.Queue) { q.Finish(); q.Fail(broken) }, "[] true", broken},
		"finish after fail":  {func(q *queue.Queue) { q.Fail(broken); q.Finish() }, "[] true", broken},
		"finish and no more": {func(q *queue.Queue) { q.Finish(); q.Finish() }, "[a] true", errFinished},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := queue.New(1, 10, errFinished)
				_ = q.Push(t.Context(), []byte("a"))
				waiting := make(chan error)
				go func() { waiting <- q.Push(t.Context(), []byte("b")) }()
				synctest.Wait()
				tc.end(q)
				if err := <-waiting; !errors.Is(err, tc.err) {
					t.Errorf("who waits gets %v", err)
				}
				if got := take(q); got != tc.taken {
					t.Errorf("taken %s", got)
				}
				if err := q.Push(t.Context(), []byte("c")); !errors.Is(err, tc.err) {
					t.Errorf("who comes later gets %v", err)
				}
			})
		})
	}
}

// Whoever claims the queue is alone with what it is for: nothing is taken
// meanwhile, what is pushed comes after, and an end is not missed.
func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(2, 10, errFinished)
		if q.Claim() {
			t.Error("claimed before anybody has come to take")
		}
		taken := make(chan string)
		go func() {
			for {
				msgs, done := q.Take()
				taken <- fmt.Sprintf("%s %v", msgs, done)
				if done {
					return
				}
			}
		}()
		synctest.Wait()
		if !q.Claim() || q.Claim() {
			t.Error("not claimed once")
		}
		if full, err := q.Try([]byte("a")); full || err != nil {
			t.Error(full, err)
		}
		synctest.Wait()
		select {
		case got := <-taken:
			t.Errorf("taken while claimed: %s", got)
		default:
		}
		q.Yield(false)
		synctest.Wait() // the taker is at work with it, for nobody hears of it yet
		if q.Claim() {
			t.Error("claimed while the taker works")
		}
		if got := <-taken; got != "[a] false" {
			t.Error(got)
		}
		synctest.Wait()
		if !q.Claim() {
			t.Fatal("not claimed although nothing is there")
		}
		q.Yield(true)
		if q.Claim() {
			t.Error("claimed before the taker has come for what is left to him")
		}
		if got := <-taken; got != "[] false" { // roused
			t.Error(got)
		}
		synctest.Wait()
		if !q.Claim() {
			t.Fatal("not claimed")
		}
		q.Finish()
		synctest.Wait()
		q.Yield(false)
		if got := <-taken; got != "[] true" {
			t.Error(got)
		}
		if q.Claim() {
			t.Error("claimed after the end")
		}
	})
}
