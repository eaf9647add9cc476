package duplextest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
)

// What a request sends comes before its answer and in order; nothing follows
// it. W20.3
func testKeepsTheOrder(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		after := make(chan error, 1)
		r := start(t, &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			for i := range 50 {
				_ = x.Notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, 2*i))
				_ = x.NotifyWait(ctx, fmt.Appendf(nil, "{\"jsonrpc\":\"2.0\",\n\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":%d}}", 2*i+1))
			}
			context.AfterFunc(ctx, func() {
				after <- x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/late"}`))
			})
			return jsonrpc.Result([]byte("{\n\"ok\":true\n}"))
		}}, Options{QueueMessages: 4})
		open(r, "2025-06-18")
		r.Say(call(1, `{"name":"a"}`))
		for i := range 100 {
			r.Expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i))
		}
		r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`)
		r.Silent(time.Minute)
		if <-after == nil {
			t.Error("a notification after the answer was taken")
		}
	})
}

// A cancel ends the request without an answer, in both eras. W18.6, W19.2, W19.8, W19.10
func testCancel(t *testing.T, start Start) {
	for name, params := range map[string]string{"legacy": `{"name":"a"}`, "stateless": mcptest.Modern(`"name":"a"`)} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T) {
				causes := make(chan error, 1)
				r := start(t, &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return jsonrpc.Result([]byte(`{}`))
				}}, Options{})
				open(r, "2025-06-18")
				r.Say(call(`"c"`, params),
					call(`"c"`, params), // in flight: W1.3, W1.4
					`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"enough"}}`)
				r.Expect(`{"jsonrpc":"2.0","id":"c","error":{"code":-32600,"message":"a request with this id is in flight","data":{"reason":"duplicate_id"}}}`)
				if cause := <-causes; !errors.Is(cause, dispatch.ErrCancelled) || !strings.Contains(cause.Error(), "enough") {
					t.Error(cause)
				}
				r.Silent(time.Minute)
				r.Say(`{"jsonrpc":"2.0","id":"c","method":"ping"}`) // the id is free again
				r.Expect(`{"jsonrpc":"2.0","id":"c","result":{}}`)
			})
		})
	}
}

// A request to the client is answered while handlers wait, and never by the
// reader. W1.11, W1.12, W13.3
func testReverseCalls(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		stub := &mcptest.Stub{
			OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
				return x.Call(ctx, "roots/list", nil)
			},
			// A notification whose handler asks back, while the reader is
			// needed for the answer.
			OnNotify: func(ctx context.Context, s dispatch.Session, _ *jsonrpc.Message) {
				_ = s.Notify([]byte(`{"jsonrpc":"2.0","method":"x/heard"}`))
				s.Call(ctx, "roots/list", nil)
				_ = s.Notify([]byte(`{"jsonrpc":"2.0","method":"x/done"}`))
			},
		}
		r := start(t, stub, Options{Instance: "i", MaxMessageBytes: 1024})
		open(r, "2025-06-18")
		r.Say(call(1, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":"i.1","method":"roots/list"}`)
		r.Say(`{"jsonrpc":"2.0","id":"i.1","result":{"roots":[]}}`)
		r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)

		r.Say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		r.Expect(`{"jsonrpc":"2.0","method":"x/heard"}`, `{"jsonrpc":"2.0","id":"i.2","method":"roots/list"}`)
		r.Say(call(2, `{"name":"a"}`)) // served meanwhile
		r.Expect(`{"jsonrpc":"2.0","id":"i.3","method":"roots/list"}`)
		r.Say(`{"jsonrpc":"2.0","id":"i.2","result":{}}`)
		r.Expect(`{"jsonrpc":"2.0","method":"x/done"}`)

		// An answer over the limit is lost, and whoever waits for it is told.
		r.Say(`{"jsonrpc":"2.0","id":"i.3","result":{"roots":["` + strings.Repeat("x", 2000) + `"]}}`)
		r.Expect(`{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"message is too large"}}`)

		// A request of 2026-07-28 cannot ask back.
		r.Say(call(3, mcptest.Modern(`"name":"a"`)))
		r.Expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"the client's revision has no such request","data":{"reason":"not_in_revision"}}}`)

		// A cancelled request takes its reverse call along.
		r.Say(call(4, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":"i.4","method":"roots/list"}`)
		r.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		r.Expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i.4"}}`)
		r.Silent(time.Minute)
	})
}

// The client's last word: what it asked is answered, what needs its help ends.
// W18.7
func testEndOfInput(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		causes := make(chan error, 1)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			switch x.Msg.Method {
			case "subscriptions/listen":
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return jsonrpc.Result([]byte(`{}`))
			case "prompts/get":
				return x.Call(ctx, "roots/list", nil)
			}
			time.Sleep(3 * time.Second)
			return jsonrpc.Result([]byte(`{"slow":true}`))
		}}
		r := start(t, stub, Options{Instance: "i"})
		open(r, "2025-06-18")
		r.Say(call(1, `{"name":"a"}`), `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"p"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":`+mcptest.Modern(`"notifications":{}`)+`}`)
		r.Expect(`{"jsonrpc":"2.0","id":"i.1","method":"roots/list"}`)
		r.CloseInput()
		if cause := <-causes; !errors.Is(cause, dispatch.ErrDisconnected) { // W33.8
			t.Error(cause)
		}
		r.ExpectAll(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i.1"}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the session has ended","data":{"reason":"session_ended"}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"slow":true}}`)
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func testDoesNotWaitForEver(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		r := start(t, &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}, Options{DrainTime: 2 * time.Second})
		open(r, "2025-06-18")
		began := time.Now()
		r.Say(call(1, `{"name":"a"}`))
		r.CloseInput()
		if err := r.Wait(); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A subscription on pipes: it is open from the start, has no deadline, and ends
// by cancel. W33.3, W33.8, W18.5
func testListens(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		causes := make(chan error, 1)
		r := start(t, &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`))
			tick := time.NewTicker(time.Hour)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
				case <-ctx.Done():
					causes <- context.Cause(ctx)
					return jsonrpc.Result([]byte(`{}`))
				}
			}
		}}, Options{RequestTimeout: time.Minute, MaxConcurrent: 1})
		r.Say(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` + mcptest.Modern(`"notifications":{}`) + `}`)
		r.Expect(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`)
		for range 26 {
			time.Sleep(time.Hour) // P33.10
			r.Expect(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		r.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		if cause := <-causes; !errors.Is(cause, dispatch.ErrCancelled) {
			t.Error(cause)
		}
		r.Silent(2 * time.Hour)
	})
}

// More requests than a connection may have are refused, and cost nothing.
func testBoundsWhatIsInFlight(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		release := make(chan struct{})
		r := start(t, &mcptest.Stub{OnServe: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			<-release
			return jsonrpc.Result([]byte(`{}`))
		}}, Options{MaxConcurrent: 2000})
		open(r, "2025-06-18")
		for i := range 1024 {
			r.Say(call(i+1, `{"name":"a"}`))
		}
		r.Say(call(2000, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":2000,"error":{"code":-32603,"message":"too many requests in flight","data":{"reason":"busy"}}}`)
		close(release)
		for range 1024 {
			r.Hear()
		}
	})
}
