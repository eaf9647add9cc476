package mcptest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// W4.7, R9: until the client has come back after initialize it is told nothing
// but log messages and asked nothing but ping; then what waited comes, in order.
// Its own requests do not wait.
func TestTheServerWaitsForInitialized(t *testing.T) {
	for name, back := range map[string]string{
		"notifications/initialized": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"a request without it":      `{"jsonrpc":"2.0","id":7,"method":"ping"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var session dispatch.Session
				stub := &mcptest.Stub{OnOpen: func(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
					session = s
					return jsonrpc.Result([]byte(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`))
				}}
				raw := mcptest.Stdio(t, stub, stdio.Options{})
				raw.Say(mcptest.Initialize(1, "2025-06-18", `{"roots":{}}`))
				if got := string(raw.Hear()); !strings.Contains(got, `"id":1,"result"`) {
					t.Fatal(got)
				}
				for _, text := range []string{
					`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
					`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`,
					`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
				} {
					if err := session.Notify([]byte(text)); err != nil {
						t.Error(err)
					}
				}
				asked := make(chan dispatch.Outcome, 2)
				go func() { asked <- session.Call(t.Context(), "roots/list", nil) }()
				raw.Expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
				go func() { asked <- session.Call(t.Context(), "ping", nil) }()
				ping := string(raw.Hear())
				if !strings.Contains(ping, `"method":"ping"`) {
					t.Fatal(ping)
				}
				raw.Say(back) // before its answer: that would be coming back, too
				raw.Expect(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				raw.Expect(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
				saw := ""
				for !strings.Contains(saw, "roots/list") { // and, in the second case, the answer to ping
					saw = string(raw.Hear())
				}
			})
		})
	}
}

// A client that never comes back: what waits is bounded, and whoever asks is
// told in time.
func TestAClientThatNeverComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var session dispatch.Session
		stub := &mcptest.Stub{OnOpen: func(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
			session = s
			return jsonrpc.Result([]byte(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`))
		}}
		raw := mcptest.Stdio(t, stub, stdio.Options{})
		raw.Say(mcptest.Initialize(1, "2025-06-18", `{"roots":{}}`))
		raw.Hear()
		for range 1000 {
			_ = session.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`))
		}
		began := time.Now()
		if o := session.Call(t.Context(), "roots/list", nil); o.Err == nil || time.Since(began) > time.Minute {
			t.Errorf("%+v after %v", o, time.Since(began))
		}
		raw.Say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		n := 0
		raw.Say(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
		for !strings.Contains(string(raw.Hear()), `"id":9`) {
			n++
		}
		if n > 256 {
			t.Errorf("%d messages were kept", n)
		}
	})
}
