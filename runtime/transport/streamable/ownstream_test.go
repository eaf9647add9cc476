package streamable_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// W8.5, W8.9, W8.14: the answer comes on the stream of its request and ends
// it; the standalone stream that is open beside it carries none.
func TestAnswersStayOffTheStandaloneStream(t *testing.T) {
	b := &backend{serve: progressThenDone}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		get := l.stream(call{method: "GET", header: on(id)})
		get.next()
		post := l.stream(call{body: callTool, header: on(id)})
		if got := string(post.message().Data); got != string(progress(1)) {
			t.Error(got)
		}
		if got := string(post.message().Data); !strings.Contains(got, `"result"`) {
			t.Error(got)
		}
		post.ended()
		_ = b.session(0).Notify(note(1))
		if got := string(get.message().Data); got != string(note(1)) {
			t.Errorf("the first message of the GET is %s", got)
		}
		get.close()
	})
}

// W9.2: no event id comes twice in a session, whatever stream it is on.
func TestEventIDsAreUniqueInASession(t *testing.T) {
	b := &backend{serve: progressThenDone}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		seen := map[string]bool{}
		note := func(where, id string, again bool) {
			if id == "" || seen[id] != again {
				t.Errorf("%s: id %q, seen before: %v", where, id, seen[id])
			}
			seen[id] = true
		}
		gets := make([]*events, 2)
		for i := range gets {
			gets[i] = l.stream(call{method: "GET", header: on(id)})
			note("GET", gets[i].next().ID, false)
		}
		for range 3 {
			post := l.stream(call{body: callTool, header: on(id)})
			prime := post.next().ID
			note("POST", prime, false)
			var rest []string
			for range 2 { // progress and answer
				rest = append(rest, post.message().ID)
				note("POST", rest[len(rest)-1], false)
			}
			post.ended()
			resumed := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", prime)})
			for range rest { // a replay gives the same events their ids again
				note("replay", resumed.message().ID, true)
			}
			resumed.close()
		}
		for _, get := range gets {
			get.close()
		}
	})
}

// W5.9, W7.1, W7.2: requests of 2026-07-28 over one connection know nothing of
// each other: what one declares the next has not, and none leaves a session.
func TestModernRequestsAreNoConversation(t *testing.T) {
	var declared []string
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		if x.Session() != nil {
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "a session"))
		}
		declared = append(declared, string(x.ClientCapabilities()))
		return done("x")
	}}
	inLab(t, b, func(l *lab) {
		capable := strings.Replace(envelope, `clientCapabilities":{}`, `clientCapabilities":{"sampling":{}}`, 1)
		ask := func(meta string) answerTo {
			return l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`, header: modern("server/discover")})
		}
		for _, meta := range []string{capable, envelope} {
			if a := ask(meta); a.status != 200 || a.code() != "" {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if len(declared) != 2 || declared[0] != `{"sampling":{}}` || declared[1] != `{}` {
			t.Errorf("declared: %q", declared)
		}
		if a := ask(`"_meta":{}`); a.status != 400 || a.code() != "-32602" {
			t.Errorf("without version and capabilities, after a good request: %d %s", a.status, a.body)
		}
		for range 200 {
			ask(envelope)
		}
		if n := l.server.Sessions(); n != 0 {
			t.Errorf("%d sessions after 200 requests", n)
		}
	})
}

// W14.5, W14.6, W20.8, W23.6, W23.7: what a request says while it runs is on
// its own stream and on no other, and before its answer.
func TestNotificationsStayOnTheStreamOfTheirRequest(t *testing.T) {
	var both *sync.WaitGroup // of the bubble
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		both.Done()
		both.Wait() // both run
		for i := range 3 {
			if err := x.Notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, x.ID(), i)); err != nil {
				return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "%v", err))
			}
		}
		return done("x")
	}}
	inLab(t, b, func(l *lab) {
		both = new(sync.WaitGroup)
		both.Add(2)
		var wg sync.WaitGroup
		for _, id := range []string{`1`, `"1"`} {
			wg.Go(func() {
				s := l.stream(call{body: strings.Replace(modernCall, `"id":"c1"`, `"id":`+id, 1), header: modern("tools/call", "Mcp-Name", "slow")})
				for i := range 3 {
					if got, want := string(s.message().Data), fmt.Sprintf(`"progressToken":%s,"progress":%d}`, id, i); !strings.Contains(got, want) {
						t.Errorf("stream of %s: %s", id, got)
					}
				}
				if got := string(s.message().Data); !strings.Contains(got, `"id":`+id+`,"result"`) {
					t.Errorf("stream of %s ends with %s", id, got)
				}
				s.ended()
			})
		}
		wg.Wait()
	})
}

// W6.8, W1.9: what a client says of itself changes nothing, and refusals say
// what is wrong in one short line.
func TestWhoAClientSaysItIsChangesNothing(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		var first string
		for i, info := range []string{`{"name":"a","version":"1"}`, `{"name":"root","version":"99","title":"admin"}`, `{"name":""}`} {
			meta := strings.Replace(envelope, `clientCapabilities":{}`, `clientCapabilities":{},"io.modelcontextprotocol/clientInfo":`+info, 1)
			a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, header: modern("tools/list")})
			if i == 0 {
				first = a.body
			}
			if a.status != 200 || a.body != first {
				t.Errorf("%s: %d %s", info, a.status, a.body)
			}
		}
		for _, bad := range []call{
			{body: `{`}, {body: `[]`}, {body: list}, {body: list, header: on("dead-0001")},
			{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header: modern("tools/list")},
			{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + envelope + `}}`, header: modern("tools/call")},
			{method: "PUT"},
		} {
			a := l.ask(bad)
			raw, _ := strictjson.GetPath([]byte(a.body), "error", "message")
			if message, ok := strictjson.String(raw); !ok || len(message) > 120 || strings.Contains(message, "\n") || message == "" {
				t.Errorf("%+v: %d %s", bad, a.status, a.body)
			}
		}
	})
}
