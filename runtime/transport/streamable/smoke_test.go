package streamable_test

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

func TestLegacyConversation(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		if a := l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header: on(id)}); a.status != 202 || a.body != "" {
			t.Errorf("initialized: %d %q", a.status, a.body)
		}
		a := l.ask(call{body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, header: on(id)})
		if a.status != 200 || a.body != `{"jsonrpc":"2.0","id":7,"result":{"echo":"tools/list"}}` {
			t.Errorf("tools/list: %d %s", a.status, a.body)
		}
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":8,"method":"ping"}`, header: on(id)}); a.body != `{"jsonrpc":"2.0","id":8,"result":{}}` {
			t.Errorf("ping: %s", a.body)
		}
		if a := l.ask(call{method: "DELETE", header: on(id)}); a.status != 204 {
			t.Errorf("DELETE: %d", a.status)
		}
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`, header: on(id)}); a.status != 404 {
			t.Errorf("after DELETE: %d", a.status)
		}
		if len(b.endings()) != 1 {
			t.Errorf("closed %d times", len(b.endings()))
		}
	})
}

func TestModernRequest(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		a := l.ask(call{body: `{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{` + envelope + `}}`, header: modern("tools/list")})
		if a.status != 200 || a.body != `{"jsonrpc":"2.0","id":"x","result":{"echo":"tools/list"}}` {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a.header.Get("Mcp-Session-Id") != "" {
			t.Error("a session id on a modern answer") // W10.12
		}
	})
}

func TestProgressMakesAStream(t *testing.T) {
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(x.ProgressToken()) + `,"progress":1}}`))
		return dispatch.Result([]byte(`{"content":[]}`))
	}}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		s := l.stream(call{body: `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":0}}}`, header: on(id)})
		prime := s.next()
		if !prime.HasID || len(prime.Data) != 0 {
			t.Errorf("priming: %+v", prime)
		}
		if ev := s.message(); string(ev.Data) != `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1}}` {
			t.Errorf("%s", ev.Data)
		}
		if ev := s.message(); string(ev.Data) != `{"jsonrpc":"2.0","id":0,"result":{"content":[]}}` || !ev.HasID {
			t.Errorf("%+v", ev)
		}
		s.ended()
	})
}
