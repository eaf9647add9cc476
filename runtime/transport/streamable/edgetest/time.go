package edgetest

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/sse"
)

// LongStandalone: a standalone stream of 26 hours; the session lives with it,
// and what comes then arrives. W14.9, P33.10.
func LongStandalone(t *testing.T, target Target) {
	const said = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		session := w.last()
		res := c.do(call{method: "GET", header: on(id)})
		time.AfterFunc(26*time.Hour, func() { _ = session.Notify([]byte(said)) })
		began := time.Now()
		r := &sse.Reader{R: res.Body}
		for {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !e.IsMessage() {
				continue
			}
			if took := time.Since(began).Truncate(time.Minute); string(e.Data) != said || took != 26*time.Hour {
				t.Errorf("after %v: %s", took, e.Data)
			}
			break
		}
		_ = res.Body.Close()
		if a := c.ask(call{body: list, header: on(id)}); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// LongAnswer: a request of 20 hours with nothing but keep-alives. W14.9, W30.17,
// P33.10.
func LongAnswer(t *testing.T, target Target) {
	const long = 20 * time.Hour
	w := &workload{serve: func(x *dispatch.Exchange) dispatch.Outcome {
		time.Sleep(long)
		return dispatch.Result([]byte(`{"content":[]}`))
	}}
	target.open(t, w, Settings{Timeout: 23 * time.Hour}, func(c *client) {
		res := c.do(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",` + envelope + `}}`, header: modern("tools/call", "Mcp-Name", "slow")})
		began := time.Now()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < long-time.Minute || took > long {
			t.Errorf("answered after %v", took)
		}
		if n, want := strings.Count(string(text), ": keep-alive\n\n"), int(long/(15*time.Second)); n < want-2 || n > want {
			t.Errorf("%d keep-alives in %v", n, long)
		}
		if all := messages(string(text)); len(all) != 1 || !strings.HasPrefix(all[0], `{"jsonrpc":"2.0","id":1,"result":{"content":[]`) {
			t.Errorf("%q", all)
		}
	})
}
