package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// promising is a Server that says the same of every request.
type promising struct {
	dispatch.Server
	prompt bool
}

func (p promising) Prompt(*dispatch.Exchange) bool { return p.prompt }

func TestPrompt(t *testing.T) {
	link := middleware.Middleware(func(next middleware.Handler) middleware.Handler { return next })
	for name, test := range map[string]struct {
		d      *dispatch.Dispatcher
		method string
		want   bool
	}{
		"a server that promises": {&dispatch.Dispatcher{Server: promising{prompt: true}}, "tools/call", true},
		"one that does not":      {&dispatch.Dispatcher{Server: promising{}}, "tools/call", false},
		"one that cannot":        {&dispatch.Dispatcher{Server: &retiring{}}, "tools/call", false},
		"links that it comes by": {&dispatch.Dispatcher{Server: promising{prompt: true}, Receive: link}, "tools/call", false},
		"links that it goes by":  {&dispatch.Dispatcher{Server: promising{prompt: true}, Send: link}, "tools/call", false},
		"what waits for others":  {&dispatch.Dispatcher{Server: promising{prompt: true}}, "tasks/result", false},
		"what no revision knows": {&dispatch.Dispatcher{Server: promising{prompt: true}}, "x/y", true},
	} {
		t.Run(name, func(t *testing.T) {
			deliver, _ := collect(t)
			run := new(dispatch.Run)
			err := run.Begin(test.d, t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"`+test.method+`"}`), Profile: profile("2025-11-25")},
				func(context.Context, *dispatch.Exchange) dispatch.Outcome { return dispatch.Result([]byte(`{}`)) }, deliver)
			if err != nil {
				t.Fatal(err)
			}
			if run.Prompt() != test.want {
				t.Errorf("prompt: %v", !test.want)
			}
			run.Work()
		})
	}
}

// D3: a request that its caller works on ends as others do, on his goroutine.
func TestWorkDelivers(t *testing.T) {
	waits := func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
		<-ctx.Done()
		return dispatch.Result([]byte(`{}`))
	}
	for name, test := range map[string]struct {
		handler dispatch.Handler
		cancel  error
		silent  bool
		reason  string
	}{
		"by its answer":   {handler: func(context.Context, *dispatch.Exchange) dispatch.Outcome { return dispatch.Result([]byte(`{}`)) }},
		"by a cancel":     {handler: waits, cancel: dispatch.ErrCancelled, silent: true},
		"by a disconnect": {handler: waits, cancel: dispatch.ErrDisconnected, silent: true},
		"by its deadline": {handler: waits, reason: "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dispatch.Dispatcher{Timeout: func() time.Duration { return time.Minute }}
				deliver, ends := collect(t)
				run := new(dispatch.Run)
				err := run.Begin(d, t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"x/y"}`), Profile: profile("2025-11-25")}, test.handler, deliver)
				if err != nil {
					t.Fatal(err)
				}
				if test.cancel != nil {
					time.AfterFunc(time.Second, func() { run.Cancel(test.cancel) })
				}
				run.Work()
				select {
				case e := <-ends:
					if (e.silence != nil) != test.silent || test.silent && !errors.Is(e.silence, test.cancel) {
						t.Errorf("silence: %v", e.silence)
					}
					if reason := e.o.Err; test.reason != "" && (reason == nil || reason.Reason() != test.reason) {
						t.Errorf("ended with %+v", e.o)
					}
				default:
					t.Error("not delivered when Work returned")
				}
			})
		})
	}
}
