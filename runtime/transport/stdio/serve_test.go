package stdio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/duplex/duplextest"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

func start(t testing.TB, server dispatch.Server, o duplextest.Options) *mcptest.Raw {
	return mcptest.Stdio(t, server, stdio.Options{
		Instance: o.Instance, MaxMessageBytes: o.MaxMessageBytes, QueueMessages: o.QueueMessages,
		RequestTimeout: o.RequestTimeout, MaxConcurrent: o.MaxConcurrent, DrainTime: o.DrainTime,
	})
}

func TestServe(t *testing.T) { duplextest.Run(t, start) }

func call(id any, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":%s}`, id, params)
}

// What lines may hold besides messages. R5, P8
func TestServeFraming(t *testing.T) {
	const ping, pong = `{"jsonrpc":"2.0","id":99,"method":"ping"}`, `{"jsonrpc":"2.0","id":99,"result":{}}`
	for name, said := range map[string]string{
		"blank lines":           "\n  \r\n" + ping,
		"a byte order mark":     "\ufeff" + ping,
		"blanks around":         "  " + ping + "\t\r",
		"a message in one line": ping,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := mcptest.Stdio(t, &mcptest.Stub{}, stdio.Options{})
				r.Say(said)
				r.Expect(pong)
				r.Silent(time.Second)
			})
		})
	}
}

// This side stops: who waits is told.
func TestServeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}
		go func() { ended <- stdio.Serve(ctx, stub, stdio.Options{}, serverIn, serverOut) }()
		lines := ndjson.NewReader(clientIn, 1<<20)
		next := func() string {
			line, err := lines.Next()
			if err != nil {
				t.Fatal(err)
			}
			return string(line.Data)
		}
		_, _ = io.WriteString(clientOut, mcptest.Initialize(0, "2025-06-18", `{}`)+"\n"+call(1, `{"name":"a"}`)+"\n")
		next()
		synctest.Wait()
		why := errors.New("told to")
		stop(why)
		if got := next(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server is shutting down","data":{"reason":"draining"}}}` {
			t.Error(got)
		}
		if _, err := lines.Next(); err != io.EOF {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, why) {
			t.Error(err)
		}
		if got := stub.Closings(); len(got) != 1 || !errors.Is(got[0], dispatch.ErrShutdown) {
			t.Errorf("closed with %v", got)
		}
	})
}

// A client that stops reading holds its producers up, and is given up after the
// write timeout. P18
func TestServeAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		defer clientIn.Close()
		sent, session := 0, make(chan dispatch.Session, 1)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			session <- x.Session()
			for x.NotifyWait(ctx, []byte(`{"jsonrpc":"2.0","method":"x"}`)) == nil {
				sent++
			}
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}
		ended := make(chan error)
		go func() {
			ended <- stdio.Serve(t.Context(), stub, stdio.Options{QueueMessages: 8, WriteTimeout: time.Minute}, serverIn, serverOut)
		}()
		_, _ = io.WriteString(clientOut, mcptest.Initialize(0, "2025-06-18", `{}`)+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+call(1, `{"name":"a"}`)+"\n")
		if _, err := ndjson.NewReader(clientIn, 1<<20).Next(); err != nil {
			t.Fatal(err)
		}
		s := <-session
		synctest.Wait()
		// As many as the queue holds wait there, are being written, and came
		// along with the answer that was read.
		if sent > 3*8+1 {
			t.Errorf("%d messages wait for a client that does not read", sent)
		}
		if err := s.Notify([]byte(`{"jsonrpc":"2.0","method":"broadcast"}`)); err == nil {
			t.Error("a broadcast found room where there is none")
		}
		if err := <-ended; !errors.Is(err, ndjson.ErrStalled) {
			t.Error(err)
		}
	})
}
