package app

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable/edgetest"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// slow is a workload that answers initialize while it is not stuck.
type slow struct{ stuck atomic.Bool }

func (s *slow) Open(ctx context.Context, _ *dispatch.Exchange, session dispatch.Session) dispatch.Outcome {
	if s.stuck.Load() {
		<-ctx.Done()
	}
	return dispatch.Result([]byte(`{"protocolVersion":"` + session.Revision() + `","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}`))
}

func (*slow) Serve(context.Context, *dispatch.Exchange) dispatch.Outcome {
	return dispatch.Result([]byte(`{"tools":[]}`))
}
func (*slow) Notify(context.Context, dispatch.Session, *jsonrpc.Message) {}
func (*slow) Closed(dispatch.Session, error)                             {}

// B4.10, B4.5, P1: initialize waits 30 seconds for a workload that is not up,
// and as long for the process of its own session; then it is 503, and says when
// to come back.
func TestInitializeDoesNotWaitForEver(t *testing.T) {
	for name, stuck := range map[string]bool{"a workload that never was up": true, "a process that says nothing": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, stdio, live := &slow{}, config.DefaultStdio(), config.DefaultLive()
				server.stuck.Store(stuck)
				stdio.Revision = "2025-11-25"
				public := edgetest.NewListener(nil)
				a := inMemory(t, stdio, live, public, pipes{server})
				runs(t, a, func() {
					server.stuck.Store(true)
					transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return public.Dial(ctx) }}
					defer transport.CloseIdleConnections()
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mcp.example/mcp", strings.NewReader(initialize))
					req.Header.Set("Content-Type", "application/json")
					began := time.Now()
					res, err := (&http.Client{Transport: transport}).Do(req)
					if err != nil {
						t.Fatal(err)
					}
					_ = res.Body.Close()
					if took := time.Since(began); res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || took != 30*time.Second {
						t.Errorf("%d %v after %v", res.StatusCode, res.Header, took)
					}
				})
			})
		})
	}
}
