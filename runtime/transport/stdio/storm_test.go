package stdio_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// Clients on real pipes that vanish in the middle: of a line, of reading, of a
// call, of a reverse call. Every server ends, with nothing held.
func TestAStormOfClientsThatVanish(t *testing.T) {
	budget := &stream.Budget{}
	stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
		for i := range 50 {
			if x.NotifyWait(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"x","params":{"i":%d}}`, i)) != nil {
				break
			}
		}
		if x.Session() != nil {
			return x.Call(ctx, "roots/list", nil)
		}
		return jsonrpc.Result([]byte(`{}`))
	}}
	said := mcptest.Initialize(0, "2025-06-18", `{"roots":{}}`) + "\n"
	for i := range 20 {
		said += call(i+1, `{"name":"a"}`) + "\n" + call(1000+i, mcptest.Modern(`"name":"a"`)) + "\n"
	}
	var storm sync.WaitGroup
	for i := range 40 {
		storm.Go(func() {
			serverIn, clientOut, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			clientIn, serverOut, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			ended := make(chan error, 1)
			go func() {
				ended <- stdio.Serve(t.Context(), stub, stdio.Options{Budget: budget, QueueMessages: 8, WriteTimeout: time.Second, DrainTime: time.Second}, serverIn, serverOut)
			}()
			_, _ = io.WriteString(clientOut, said[:rand.IntN(len(said))])
			_ = clientIn.SetReadDeadline(time.Now().Add(time.Duration(rand.IntN(30)) * time.Millisecond))
			_, _ = io.CopyN(io.Discard, clientIn, int64(rand.IntN(2000)))
			if i%2 == 0 {
				_ = clientIn.Close() // reads no more, and then says no more
				_ = clientOut.Close()
			} else {
				_ = clientOut.Close()
				_ = clientIn.SetReadDeadline(time.Time{})
				_, _ = io.Copy(io.Discard, clientIn)
				_ = clientIn.Close()
			}
			select {
			case <-ended:
			case <-time.After(mcptest.Patience):
				t.Error("a server goes on without its client")
			}
		})
	}
	storm.Wait()
	for range 100 {
		if budget.Used() == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond) // handlers see the end by their context
	}
	if used := budget.Used(); used != 0 {
		t.Errorf("%d bytes are held", used)
	}
	if opened, closed := len(stub.Sessions()), len(stub.Closings()); opened != closed {
		t.Errorf("%d sessions opened, %d closed", opened, closed)
	}
}
