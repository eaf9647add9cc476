package httpsse_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/client/sseleg"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
)

type roots struct{}

func (roots) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	return []byte(`{"roots":[]}`), nil
}
func (roots) Notification(peer.Incoming) {}

// Clients on loopback that vanish in the middle of everything leave nothing
// behind.
func TestAStormOfClientsThatVanish(t *testing.T) {
	keys := &seal.Keyring{Server: "uid"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
		for i := range 20 {
			if x.NotifyWait(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"x","params":{"i":%d}}`, i)) != nil {
				break
			}
		}
		return x.Call(ctx, "roots/list", nil)
	}}
	budget := &stream.Budget{}
	server := &httpsse.Server{Handler: stub, Keys: keys, Budget: budget}
	web := mcptest.Loopback(t, server)
	target, err := url.Parse(web.URL + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	var storm sync.WaitGroup
	for range 8 {
		storm.Go(func() {
			for range 12 {
				leg := sseleg.New(sseleg.Config{URL: target, HTTP: web.Client})
				p := peer.New(leg, peer.Config{Handler: roots{}})
				ctx, stop := context.WithTimeout(t.Context(), time.Duration(rand.IntN(20))*time.Millisecond)
				_, _ = p.Initialize(ctx, []byte(`{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}`), func(string) bool { return true })
				var calls sync.WaitGroup
				for range 4 {
					calls.Go(func() { _, _ = p.Call(ctx, peer.Request{Method: "tools/call"}) })
				}
				if rand.IntN(2) == 0 {
					p.Close(nil)
				}
				calls.Wait()
				stop()
				p.Close(nil)
				leg.Wait()
				p.Wait()
			}
		})
	}
	storm.Wait()
	if err := server.Shutdown(t.Context(), errors.New("over")); err != nil {
		t.Error(err)
	}
	for range 200 {
		if budget.Used() == 0 && server.Connections()+server.Sessions() == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond) // the server hears of a closed connection a little later
	}
	if n, used := server.Connections()+server.Sessions(), budget.Used(); n != 0 || used != 0 {
		t.Errorf("%d are left, %d bytes are held", n, used)
	}
	if opened, closed := len(stub.Sessions()), len(stub.Closings()); opened < closed {
		t.Errorf("%d sessions opened, %d closed", opened, closed)
	}
}
