package dispatch_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// What waits and what listens takes no turn from what works, is bounded on its
// own, and for each caller too.
func TestRequestsThatTakeNoTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		revision, method string
		deadline         bool
	}{
		"what waits":   {"2025-11-25", "tasks/result", true},
		"what listens": {"2026-07-28", "subscriptions/listen", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var listening atomic.Int64
				d := &dispatch.Dispatcher{
					MaxConcurrent: func() int { return 1 }, MaxListening: func() int { return 3 }, MaxListeningPerPrincipal: func() int { return 2 },
					Timeout:  func() time.Duration { return time.Minute },
					Observer: &hook.Observer{Listening: func(n int) { listening.Add(int64(n)) }},
				}
				release := make(chan struct{})
				start := func(method, bucket string) (*dispatch.Run, <-chan ended) {
					deliver, ends := collect(t)
					run, err := d.Start(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`), Profile: profile(tt.revision), Caller: dispatch.Bucket(bucket)},
						func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
							select {
							case <-release:
							case <-ctx.Done():
							}
							return dispatch.Result([]byte(`{}`))
						}, deliver)
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					return run, ends
				}
				refused := func(ends <-chan ended) bool {
					select {
					case e := <-ends:
						return e.o.Err != nil && e.o.Err.Reason() == "busy"
					default:
						return false
					}
				}
				first, firstEnds := start(tt.method, "a")
				_, second := start(tt.method, "a")
				_, third := start(tt.method, "a")
				_, other := start(tt.method, "b")
				_, fifth := start(tt.method, "c")
				if refused(second) || !refused(third) || refused(other) || !refused(fifth) {
					t.Error("the bounds do not hold")
				}
				_, work := start("tools/list", "a")
				_, queued := start("tools/list", "a")
				first.Cancel(dispatch.ErrCancelled)
				<-firstEnds
				synctest.Wait()
				if _, again := start(tt.method, "a"); refused(again) {
					t.Error("a place did not become free")
				}
				if want := map[bool]int64{true: 0, false: 3}[tt.deadline]; listening.Load() != want {
					t.Errorf("%d listen", listening.Load())
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				select {
				case e := <-other:
					if !tt.deadline || e.o.Err == nil || e.o.Err.Reason() != "timeout" {
						t.Errorf("%+v", e)
					}
				default:
					if tt.deadline {
						t.Error("no deadline")
					}
				}
				<-work // ended by its deadline
				<-queued
				close(release)
				synctest.Wait()
				if listening.Load() != 0 {
					t.Errorf("%d listen", listening.Load())
				}
			})
		})
	}
}

// D3, W19.2: a handler that returns because it was cancelled may be quicker than
// whoever watches the context; its answer does not leave all the same.
func TestNoAnswerAfterACancel(t *testing.T) {
	d := &dispatch.Dispatcher{}
	for range 200 {
		deliver, ends := collect(t)
		working := make(chan struct{})
		var stops []context.CancelFunc
		run, err := d.Start(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"m"}`), Profile: profile("2025-11-25")},
			func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
				for range 500 { // they are told one after the other, before or after the watcher
					_, stop := context.WithCancel(ctx)
					stops = append(stops, stop)
				}
				close(working)
				<-ctx.Done()
				return dispatch.Result([]byte(`{}`))
			}, deliver)
		if err != nil {
			t.Fatal(err)
		}
		<-working
		run.Cancel(dispatch.ErrCancelled)
		if e := <-ends; e.silence == nil {
			t.Fatalf("answered %+v", e)
		}
		for _, stop := range stops {
			stop()
		}
	}
}
