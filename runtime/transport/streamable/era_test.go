package streamable_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// B4.11: whatever the server answers, the client is told its own revision. W4.12. W4.11.
func TestNegotiatedRevisionIsTold(t *testing.T) {
	b := &backend{open: func(context.Context, *dispatch.Exchange, dispatch.Session) dispatch.Outcome {
		return dispatch.Result([]byte(`{"x":1.0,"protocolVersion":"2024-11-05","capabilities":{}}`))
	}}
	inLab(t, b, func(l *lab) {
		a := l.ask(call{body: initialize("2025-06-18", "{}")})
		if a.body != `{"jsonrpc":"2.0","id":"init","result":{"x":1.0,"protocolVersion":"2025-06-18","capabilities":{}}}` {
			t.Error(a.body)
		}
	})
}

// A session that could not be opened leaves nothing behind.
func TestFailedInitialize(t *testing.T) {
	reason := mcp.ReasonStarting
	b := &backend{open: func(context.Context, *dispatch.Exchange, dispatch.Session) dispatch.Outcome {
		return dispatch.Fail(jsonrpc.Errorf(-32603, "no").WithReason(reason))
	}}
	inLab(t, b, func(l *lab) {
		a := l.ask(call{body: initialize("2025-11-25", "{}")})
		if a.status != 503 || a.header.Get("Retry-After") == "" || a.header.Get("Mcp-Session-Id") != "" || a.id() != `"init"` { // P1, B4.5
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		reason = "broken"
		if a := l.ask(call{body: initialize("2025-11-25", "{}")}); a.status != 200 || a.code() != "-32603" || a.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		if n := l.server.Sessions(); n != 0 || len(b.endings()) != 0 {
			t.Errorf("%d sessions, %d told as closed", n, len(b.endings()))
		}
	})
}

// C01, D2: ids and payloads come back byte for byte.
func TestBytesAreKept(t *testing.T) {
	result := `{"content":[{"type":"text","text":"\u00e9\ud83d"}],"structuredContent":{"id":9007199254740993,"p":1.0,"e":1E2},"x":null}`
	var params string
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		params = string(x.Msg.Params)
		return dispatch.Result([]byte(result))
	}}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		for _, rid := range []string{`"1"`, `"007"`, `""`, `"9007199254740993"`, `0`, `-5`, `9007199254740993`, `"\u0041"`} {
			sent := `{ "name":"a" ,"arguments":{"n":1.0,"s":"\udcff"}}`
			a := l.ask(call{body: `{"jsonrpc":"2.0","method":"tools/call","params":` + sent + `,"id":` + rid + `}`, header: on(id)})
			if want := `{"jsonrpc":"2.0","id":` + rid + `,"result":` + result + `}`; a.body != want {
				t.Errorf("got %s\nwant %s", a.body, want)
			}
			if params != sent {
				t.Errorf("the server saw %s", params)
			}
		}
	})
}

// R9, W8.3, B9.2: what the front consumes, and what it hands on. W1.10, W19.3.
func TestLegacyNotifications(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		for _, body := range []string{
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
			`{"jsonrpc":"2.0","id":"unknown","result":{}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"no"}}`, `{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}`,
		} {
			if a := l.ask(call{body: body, header: on(id)}); a.status != 202 || a.body != "" {
				t.Errorf("%s: %d %q", body, a.status, a.body)
			}
			if a := l.ask(call{body: body, header: on("dead-0001")}); a.status != 404 || a.id() != "none" {
				t.Errorf("%s on an unknown session: %d %s", body, a.status, a.body)
			}
			if a := l.ask(call{body: body}); a.status != 400 {
				t.Errorf("%s without a session: %d", body, a.status)
			}
		}
		if strings.Join(b.notified, " ") != "notifications/progress notifications/roots/list_changed" {
			t.Errorf("the server was told %v", b.notified)
		}
	})
}

// W16.4, P34: which errors of the server have a status of their own.
func TestModernErrorStatus(t *testing.T) {
	var code int64
	b := &backend{serve: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
		return dispatch.Fail(jsonrpc.Errorf(code, "no"))
	}}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		for want, codes := range map[int][]int64{404: {-32601}, 400: {-32021}, 200: {-32602, -32603, -32600, -32000, -5, 42}} {
			for _, code = range codes {
				if a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + envelope + `}}`, header: modern("tools/list")}); a.status != want {
					t.Errorf("modern %d: %d", code, a.status)
				}
				if a := l.ask(call{body: list, header: on(id)}); a.status != 200 {
					t.Errorf("legacy %d: %d", code, a.status)
				}
			}
		}
	})
}

// P14: what a client may not say is gone before anything reads it.
func TestForgedMetaIsRemoved(t *testing.T) {
	var seen string
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		seen = string(x.Msg.Params)
		return dispatch.Result([]byte(`{}`))
	}}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"dev.fairlead/principal":"root","progressToken":1}}}`, header: on(id)})
		if seen != `{"_meta":{"progressToken":1}}` {
			t.Error(seen)
		}
	})
}

// W36.15, W14.12: tasks that the server does not offer, asked for without a
// session.
func TestTasksThatAreNotOffered(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		for method, name := range map[string]string{"tasks/get": "t", "tasks/result": "-"} {
			a := l.ask(call{body: `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"taskId":"t",` + envelope + `}}`, header: modern(method, "Mcp-Name", name)})
			if a.status != 404 || a.code() != "-32601" || a.id() != "7" || b.served() != 0 {
				t.Errorf("%s: %d %s", method, a.status, a.body)
			}
		}
	})
}
