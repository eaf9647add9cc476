package stdio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/duplex"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// Requests that there is no memory for are refused one by one, and their bytes
// are given back with the answers. P18
func TestServeWithinTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget, release := &stream.Budget{Max: 2500}, make(chan struct{})
		r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			<-release
			return jsonrpc.Result([]byte(`{}`))
		}}, stdio.Options{Budget: budget})
		r.Say(mcptest.Initialize(0, "2025-06-18", `{}`))
		r.Hear()
		big := `{"name":"a","arguments":{"x":"` + strings.Repeat("x", 900) + `"}}`
		r.Say(call(1, big), call(2, big), call(3, big))
		r.Expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no memory for the message","data":{"reason":"busy"}}}`)
		r.Say(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
		r.Expect(`{"jsonrpc":"2.0","id":4,"result":{}}`)
		close(release)
		r.ExpectAll(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		synctest.Wait()
		if used := budget.Used(); used != 0 {
			t.Errorf("%d bytes are held", used)
		}
	})
}

// What comes before initialize is answered waits in a bounded place.
func TestServeHoldsSoMuchBeforeInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stub := &mcptest.Stub{OnOpen: func(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
			<-release
			return jsonrpc.Result([]byte(`{"protocolVersion":"` + s.Revision() + `"}`))
		}}
		r := mcptest.Stdio(t, stub, stdio.Options{})
		r.Say(mcptest.Initialize(0, "2025-06-18", `{}`))
		for i := range 65 {
			r.Say(call(i+1, `{"name":"a"}`))
		}
		r.Expect(`{"jsonrpc":"2.0","id":65,"error":{"code":-32603,"message":"too many requests before initialize is answered","data":{"reason":"busy"}}}`)
		close(release)
		r.Expect(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
		var want []string
		for i := range 64 {
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"echo":"tools/call"}}`, i+1))
		}
		r.ExpectAll(want...)
	})
}

// Notifications that the server is slow to take wait in a bounded lane; those
// beyond it are lost and counted, and nothing else waits for them.
func TestServeDropsNotificationsThatNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stub := &mcptest.Stub{OnNotify: func(context.Context, dispatch.Session, *jsonrpc.Message) { <-release }}
		var lost atomic.Int64
		r := mcptest.Stdio(t, stub, stdio.Options{Observer: &hook.Observer{Dropped: func(d hook.Drop) {
			if d == hook.DropInbound {
				lost.Add(1)
			}
		}}})
		r.Say(mcptest.Initialize(0, "2025-06-18", `{}`))
		r.Hear()
		const said = duplex.MaxLane + 1 + 50 // one is being taken
		for range said {
			r.Say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		}
		r.Say(call(1, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/call"}}`)
		close(release)
		synctest.Wait()
		if n := len(stub.Notified()); lost.Load() != 50 || n != said-50 {
			t.Errorf("%d were lost and %d taken of %d", lost.Load(), n, said)
		}
	})
}

// A pipe that breaks is told as what it was, and what was asked is over.
func TestServeBrokenPipes(t *testing.T) {
	broken := errors.New("the pipe is broken")
	for name, tc := range map[string]struct {
		end  func(serverIn *io.PipeReader, clientOut *io.PipeWriter, clientIn *io.PipeReader)
		want error
	}{
		"reading fails": {func(_ *io.PipeReader, clientOut *io.PipeWriter, _ *io.PipeReader) {
			_ = clientOut.CloseWithError(broken)
		}, broken},
		"writing fails": {func(_ *io.PipeReader, _ *io.PipeWriter, clientIn *io.PipeReader) { _ = clientIn.CloseWithError(broken) }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serverIn, clientOut := io.Pipe()
				clientIn, serverOut := io.Pipe()
				ended := make(chan error, 1)
				go func() {
					ended <- stdio.Serve(t.Context(), &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
						for x.NotifyWait(ctx, []byte(`{"jsonrpc":"2.0","method":"x"}`)) == nil { // until nobody takes it
							time.Sleep(time.Millisecond)
						}
						<-ctx.Done()
						return jsonrpc.Result([]byte(`{}`))
					}}, stdio.Options{QueueMessages: 2}, serverIn, serverOut)
				}()
				_, _ = io.WriteString(clientOut, mcptest.Initialize(0, "2025-06-18", `{}`)+"\n"+call(1, `{"name":"a"}`)+"\n")
				if _, err := ndjson.NewReader(clientIn, 1<<20).Next(); err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.Copy(io.Discard, clientIn) }()
				tc.end(serverIn, clientOut, clientIn)
				if err := <-ended; !errors.Is(err, tc.want) {
					t.Error(err)
				}
				_ = clientIn.Close()
				time.Sleep(time.Second) // the handler sees the end
			})
		})
	}
}
