package streamable_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// idleSessions opens n sessions, leaves them alone, and returns what one costs.
func idleSessions(t *testing.T, n int) (bytes float64, goroutines int) {
	t.Helper()
	keys := &seal.Keyring{Server: "uid"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	s := &streamable.Server{Handler: forgetful{}, Keys: keys, Pod: "pod-1", Settings: func() streamable.Settings {
		return streamable.Settings{MaxSessions: n + 1}
	}}
	open := func(i int) {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{},"elicitation":{},"roots":{"listChanged":true}},"clientInfo":{"name":"a client of usual length","version":"1.2.3"}}}`, i)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	open(0)
	before, began := heap(), runtime.NumGoroutine()
	for i := range n {
		open(i + 1)
	}
	after, ended := heap(), runtime.NumGoroutine()
	if s.Sessions() != n+1 {
		t.Fatalf("%d sessions", s.Sessions())
	}
	runtime.KeepAlive(s)
	s.Cut(fmt.Errorf("over"))
	return float64(after-before) / float64(n), ended - began
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) + int64(m.StackInuse)
}

// forgetful is a backend that keeps nothing.
type forgetful struct{}

// A session that nobody uses costs a bounded number of bytes and no goroutine
// (design bar: 1.5 KB). What else is on the heap only adds to it, so that the
// least of some looks is what is true.
func TestIdleSessionsAreCheap(t *testing.T) {
	// Few enough that none lapses unready before all of them are open, however slow the machine.
	const n = 2_000
	bytes, goroutines := idleSessions(t, n)
	for range 4 {
		t.Logf("%.0f bytes, %d goroutines", bytes, goroutines)
		if bytes <= 1536 {
			break
		}
		again, _ := idleSessions(t, n)
		bytes = min(bytes, again)
	}
	if bytes > 1536 {
		t.Errorf("an idle session takes %.0f bytes", bytes)
	}
	if goroutines > 10 {
		t.Errorf("%d idle sessions have %d goroutines", n, goroutines)
	}
}

func (forgetful) Open(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	return dispatch.Result([]byte(`{"protocolVersion":"` + s.Revision() + `","capabilities":{},"serverInfo":{"name":"t","version":"1"}}`))
}

func (forgetful) Serve(context.Context, *dispatch.Exchange) dispatch.Outcome {
	return dispatch.Result([]byte(`{}`))
}
func (forgetful) Notify(context.Context, dispatch.Session, *jsonrpc.Message) {}
func (forgetful) Closed(dispatch.Session, error)                             {}
