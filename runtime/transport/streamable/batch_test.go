package streamable_test

import (
	"context"
	"errors"
	"io"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// W12.1, W12.2, W12.4, W4.9, B11.10, C30; W1.14
func TestBatches(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-03-26", "{}")
		bodies := func(a answerTo) string {
			var out []string
			for _, e := range parse(a.body) {
				if e.IsMessage() {
					out = append(out, string(e.Data))
				}
			}
			sort.Strings(out)
			return strings.Join(out, "\n")
		}
		a := l.ask(call{body: `[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}},
			{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"no/such"}]`, header: on(id)})
		want := `{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/list"}}
{"jsonrpc":"2.0","id":2,"result":{}}
{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"method not found"}}`
		if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || bodies(a) != want {
			t.Errorf("%d %s", a.status, a.body)
		}
		tests := map[string]struct {
			body   string
			status int
		}{
			"notifications only":     {`[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`, 202},
			"responses only":         {`[{"jsonrpc":"2.0","id":"x","result":{}}]`, 202},
			"empty":                  {`[]`, 400},
			"initialize inside":      {`[` + initialize("2025-03-26", "{}") + `]`, 400},
			"something that is none": {`[1]`, 400},
			"broken":                 {`[{`, 400},
			"too many":               {`[` + strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/initialized"},`, 50) + `{"jsonrpc":"2.0","method":"notifications/initialized"}]`, 400},
		}
		for name, tt := range tests {
			if a := l.ask(call{body: tt.body, header: on(id)}); a.status != tt.status {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		for _, revision := range []string{"2024-11-05", "2025-06-18", "2025-11-25"} {
			if a := l.ask(call{body: `[` + list + `]`, header: on(l.connect(revision, "{}"))}); a.status != 400 || a.code() != "-32600" {
				t.Errorf("%s: %d %s", revision, a.status, a.body)
			}
		}
		if a := l.ask(call{body: `[` + list + `]`}); a.status != 400 {
			t.Errorf("without a session: %d", a.status)
		}
		if a := l.ask(call{body: `[` + list + `]`, header: with(on(id), "Accept", "application/json")}); a.status != 406 {
			t.Errorf("JSON only: %d", a.status)
		}
		if a := l.ask(call{body: `[` + list + `,` + list + `]`, header: on(id)}); a.status != 200 || !strings.Contains(a.body, "in flight") && strings.Count(a.body, "echo") != 2 {
			t.Errorf("one id twice: %s", a.body)
		}
		if len(b.notified) != 1 {
			t.Errorf("the server was told %v", b.notified)
		}
	})
}

// A batch outlives its connection, and a cancelled member leaves the others.
func TestBatchMembers(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		l.settings(func(s *streamable.Settings) { s.RequestTimeout = 24 * time.Hour })
		id := l.connect("2025-03-26", `{"roots":{}}`)
		ctx, hangUp := context.WithCancel(l.t.Context())
		s := l.stream(call{body: `[{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"y"}}]`, header: on(id), ctx: ctx})
		prime := s.next()
		x := <-h.exchanges
		<-h.exchanges
		outcome := make(chan dispatch.Outcome)
		go func() { outcome <- x.Call(x.Context(), "roots/list", nil) }()
		asked := s.message()
		l.ask(call{body: `{"jsonrpc":"2.0","id":` + idOf(asked.Data) + `,"result":{}}`, header: on(id)})
		<-outcome
		l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`, header: on(id)})
		if cause := <-h.ended; !errors.Is(cause, dispatch.ErrCancelled) {
			t.Errorf("%v", cause)
		}
		hangUp()
		time.Sleep(2 * time.Hour) // no idle clock runs while a member does
		h.release <- done("b")
		r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", prime.ID)})
		text, _ := io.ReadAll(r.res.Body)
		if strings.Count(string(text), `"id":"b","result"`) != 1 || strings.Contains(string(text), `"id":"a"`) {
			t.Errorf("%s", text)
		}
	})
}
