package streamable_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// W4.3, W5.2, W14.14, W14.16, B2.2: an endpoint may serve some revisions only,
// and answers like one that never knew the others.
func TestOffer(t *testing.T) {
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		return dispatch.Result([]byte(`{"offer":"` + strings.Join(x.Offer().Revisions(), " ") + `"}`))
	}}
	discover := call{body: `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + envelope + `}}`, header: modern("server/discover")}
	t.Run("stateless only", func(t *testing.T) {
		inLab(t, b, func(l *lab) {
			old := l.connect("2025-11-25", "{}")
			l.settings(func(s *streamable.Settings) { s.Revisions = mcp.Offer{"2026-07-28"} })
			if a := l.ask(discover); a.status != 200 || !strings.Contains(a.body, `{"offer":"2026-07-28"}`) {
				t.Errorf("discover: %d %s", a.status, a.body)
			}
			if a := l.ask(call{body: initialize("2025-11-25", "{}")}); a.status != 400 || a.code() != "-32022" || !strings.Contains(a.body, `"supported":["2026-07-28"]`) || a.id() != `"init"` {
				t.Errorf("initialize: %d %s", a.status, a.body)
			}
			if a := l.ask(call{body: list}); a.status != 400 || a.code() != "-32602" {
				t.Errorf("a bare request: %d %s", a.status, a.body)
			}
			for _, method := range []string{"GET", "DELETE"} {
				if a := l.ask(call{method: method, header: on("x")}); a.status != 405 || a.header.Get("Allow") != "POST" {
					t.Errorf("%s: %d %s", method, a.status, a.body)
				}
			}
			if a := l.ask(call{body: list, header: on(old)}); a.status != 200 || a.code() != "" {
				t.Errorf("a session from before: %d %s", a.status, a.body)
			}
		})
	})
	t.Run("one with sessions only", func(t *testing.T) {
		inLab(t, b, func(l *lab) {
			l.settings(func(s *streamable.Settings) { s.Revisions = mcp.Offer{"2025-06-18"} })
			if a := l.ask(call{body: initialize("2025-11-25", "{}")}); a.status != 200 || !strings.Contains(a.body, `"protocolVersion":"2025-06-18"`) {
				t.Errorf("initialize: %d %s", a.status, a.body)
			}
			if a := l.ask(discover); a.status != 400 || a.code() != "-32600" || a.id() != "1" {
				t.Errorf("discover: %d %s", a.status, a.body)
			}
			if a := l.ask(call{body: list, header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}}); a.status != 400 || a.code() != "-32600" {
				t.Errorf("by header alone: %d %s", a.status, a.body)
			}
		})
	})
}

// P22, P33.8: limits count the anonymous by where they come from, which only a
// trusted proxy may say.
func TestBuckets(t *testing.T) {
	var bucket string
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		bucket = x.Bucket()
		return done("x")
	}}
	inLab(t, b, func(l *lab) {
		l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow", "X-Forwarded-For", "9.9.9.9")})
		if bucket == "" || strings.Contains(bucket, "9.9.9.9") {
			t.Errorf("a forged header made %q", bucket)
		}
	})
}
