package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
)

type handler struct {
	notes atomic.Int64
}

func (*handler) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	return []byte(`{"roots":[]}`), nil
}
func (h *handler) Notification(peer.Incoming) { h.notes.Add(1) }

// connect makes a session over a fresh pair.
func connect(t *testing.T, server dispatch.Server, o memory.Options) (*peer.Peer, *memory.Link, *handler) {
	t.Helper()
	link, h := memory.Connect(server, o), &handler{}
	p := peer.New(link, peer.Config{Handler: h})
	t.Cleanup(func() { p.Close(nil); link.Wait(); p.Wait() })
	_, err := p.Initialize(t.Context(), []byte(`{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return p, link, h
}

func TestAClientAndAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, link, h := connect(t, &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			if x.Msg.Method == "tools/call" {
				_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`))
				return x.Call(ctx, "roots/list", nil)
			}
			return jsonrpc.Result([]byte(`{"n":9007199254740993}`))
		}}, memory.Options{})
		answer, err := p.Call(t.Context(), peer.Request{Method: "tools/call", Params: []byte(`{"name":"a"}`)})
		if err != nil || string(answer.Result) != `{"roots":[]}` {
			t.Errorf("%s, %v", answer.Result, err)
		}
		if answer, err = p.Call(t.Context(), peer.Request{Method: "x"}); err != nil || string(answer.Result) != `{"n":9007199254740993}` {
			t.Errorf("%s, %v", answer.Result, err)
		}
		synctest.Wait()
		if h.notes.Load() != 1 {
			t.Errorf("%d notifications", h.notes.Load())
		}
		link.CloseInput()
		<-p.Done()
		if _, err := p.Call(t.Context(), peer.Request{Method: "x"}); peer.ReasonOf(err) != peer.Ended {
			t.Error(err)
		}
	})
}

func TestMessagesOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := connect(t, &mcptest.Stub{OnServe: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			return jsonrpc.Result([]byte(`{"a":"` + strings.Repeat("x", 2048) + `"}`))
		}}, memory.Options{MaxMessageBytes: 1024})
		if _, err := p.Call(t.Context(), peer.Request{Method: "x"}); peer.ReasonOf(err) != peer.TooLarge {
			t.Errorf("answer: %v", err)
		}
		answer, err := p.Call(t.Context(), peer.Request{Method: "x", Params: []byte(`{"a":"` + strings.Repeat("x", 2048) + `"}`)})
		if err != nil || answer.Err == nil || answer.Err.Code != jsonrpc.CodeInvalidRequest {
			t.Errorf("request: %+v, %v", answer, err)
		}
	})
}

func TestShutdownTellsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}
		p, link, _ := connect(t, stub, memory.Options{})
		go func() {
			synctest.Wait()
			link.Shutdown(errors.New("enough"))
		}()
		answer, err := p.Call(t.Context(), peer.Request{Method: "x"})
		if err != nil || answer.Err == nil || answer.Err.Reason() != "draining" {
			t.Errorf("%+v, %v", answer, err)
		}
		<-p.Done()
		if got := stub.Closings(); len(got) != 1 || !errors.Is(got[0], dispatch.ErrShutdown) {
			t.Errorf("closed with %v", got)
		}
	})
}

func TestCloseEndsBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return jsonrpc.Result([]byte(`{}`))
		}}
		p, link, _ := connect(t, stub, memory.Options{})
		go func() {
			synctest.Wait()
			link.Close(nil)
		}()
		if _, err := p.Call(t.Context(), peer.Request{Method: "x"}); peer.ReasonOf(err) != peer.Ended {
			t.Error(err)
		}
		if cause := <-ended; !errors.Is(cause, dispatch.ErrDisconnected) {
			t.Error(cause)
		}
		link.Wait()
	})
}

// Clients that vanish in the middle of everything leave nothing behind.
func TestAStormOfClientsThatVanish(t *testing.T) {
	stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
		for i := range 20 {
			if x.NotifyWait(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"x/%d"}`, i)) != nil {
				break
			}
		}
		return x.Call(ctx, "roots/list", nil)
	}}
	var storm sync.WaitGroup
	for i := range 100 {
		storm.Go(func() {
			link := memory.Connect(stub, memory.Options{QueueMessages: 4})
			p := peer.New(link, peer.Config{Handler: &handler{}})
			if _, err := p.Initialize(t.Context(), []byte(`{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}`), func(string) bool { return true }); err != nil {
				t.Error(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Duration(i)*50*time.Microsecond)
			var calls sync.WaitGroup
			for range 4 {
				calls.Go(func() { _, _ = p.Call(ctx, peer.Request{Method: "tools/call"}) })
			}
			if i%2 == 0 {
				p.Close(nil)
			}
			calls.Wait()
			stop()
			p.Close(nil)
			link.Wait()
			p.Wait()
		})
	}
	storm.Wait()
	if opened, closed := len(stub.Sessions()), len(stub.Closings()); opened != 100 || closed != 100 {
		t.Errorf("%d sessions opened, %d closed", opened, closed)
	}
}
