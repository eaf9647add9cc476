package guard_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

func inStack(t *testing.T, edit func(*guard.Options), run func(t *testing.T, s *stack)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, newStack(t, edit, nil)) })
}

// W7.5, W10.10, W38.18: a session is no authentication, and a stranger's looks
// like one that does not exist.
func TestASessionIsItsPrincipalsOnly(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		own := s.session("alice")
		gone := s.session("bob")
		if got := read(t, s.open(t.Context(), "DELETE", "bob", "", "Mcp-Session-Id", gone)); got.status != 204 {
			t.Fatalf("deleting: %d %s", got.status, got.body)
		}
		requests := map[string]func(user, session string) reply{
			"POST": func(user, session string) reply { return s.legacy(user, session, "tools/list", "{}") },
			"GET": func(user, session string) reply {
				return read(t, s.open(t.Context(), "GET", user, "", "Mcp-Session-Id", session))
			},
			"GET to resume": func(user, session string) reply {
				return read(t, s.open(t.Context(), "GET", user, "", "Mcp-Session-Id", session, "Last-Event-ID", "x.1"))
			},
			"DELETE": func(user, session string) reply {
				return read(t, s.open(t.Context(), "DELETE", user, "", "Mcp-Session-Id", session))
			},
			"a notification": func(user, session string) reply {
				return read(t, s.open(t.Context(), "POST", user, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "Mcp-Session-Id", session))
			},
			"a response": func(user, session string) reply {
				return read(t, s.open(t.Context(), "POST", user, `{"jsonrpc":"2.0","id":1,"result":{}}`, "Mcp-Session-Id", session))
			},
		}
		for name, request := range requests {
			unknown := request("bob", gone)
			foreign := request("bob", own)
			if unknown.status != 404 || foreign.status != 404 {
				t.Errorf("%s: %d for an unknown session, %d for a stranger's", name, unknown.status, foreign.status)
			}
			if unknown.get("error") != foreign.get("error") {
				t.Errorf("%s: %s and %s can be told apart", name, unknown.body, foreign.body)
			}
			s.revoked[token("carol")] = true
			for _, user := range []string{"", "carol"} {
				if got := request(user, own); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s as %q: %d", name, user, got.status)
				}
			}
		}
		if got := s.legacy("alice", own, "tools/call", `{"name":"who"}`); !strings.Contains(got.body, "you are alice") {
			t.Errorf("her own: %d %s", got.status, got.body)
		}
		if got := s.legacy("alice-read.write", own, "tools/call", `{"name":"who"}`); !strings.Contains(got.body, "you are alice") {
			t.Errorf("her own, with another token: %d %s", got.status, got.body) // rotation
		}
		s.revoked[token("alice")] = true
		if got := s.legacy("alice", own, "tools/call", `{"name":"who"}`); got.status != 401 {
			t.Errorf("when her token is gone: %d %s", got.status, got.body)
		}
	})
}

// W38.21: whose stream an event id is of counts, not who knows it.
func TestAStrangersEventIDReplaysNothing(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		own, other := s.session("alice"), s.session("bob")
		first := s.hear("alice", own, "", time.Second)
		_, id, _ := strings.Cut(first, "id: ")
		id, _, found := strings.Cut(id, "\n")
		if !found {
			t.Fatalf("no event id in %q", first)
		}
		if got := s.legacy("alice", own, "resources/subscribe", `{"uri":"test://note"}`); got.get("result") != "{}" {
			t.Fatal(got.body)
		}
		s.server.ResourceUpdated("test://note")
		time.Sleep(time.Second)
		if got := s.hear("bob", other, id, time.Second); strings.Contains(got, "test://note") {
			t.Errorf("bob heard %s", got)
		}
		if got := s.hear("alice", own, id, time.Second); !strings.Contains(got, "test://note") {
			t.Errorf("alice did not hear of it: %s", got)
		}
	})
}

// W38.21: an anonymous session never takes a token later, nor the reverse.
func TestAnonymousAndNamedDoNotMix(t *testing.T) {
	inStack(t, func(o *guard.Options) { o.Anonymous = true }, func(t *testing.T, s *stack) {
		open, own := s.session(""), s.session("alice")
		for name, tc := range map[string]struct{ user, session, want string }{
			"anonymous in its own":  {"", open, `200 "you are "`},
			"alice in her own":      {"alice", own, `200 "you are alice"`},
			"alice in the open one": {"alice", open, "404 "},
			"anonymous in alice's":  {"", own, "404 "},
		} {
			got := s.legacy(tc.user, tc.session, "tools/call", `{"name":"who"}`)
			status, text, _ := strings.Cut(tc.want, " ")
			if fmt.Sprint(got.status) != status || !strings.Contains(got.body, text) {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
	})
}

// W38.21: to have a handle is not to be its owner.
func TestHandlesProveNothing(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		asked := s.modern("alice", "tools/call", "confirm", `"name":"confirm"`)
		state := asked.get("result", "requestState")
		if state == "" {
			t.Fatalf("%d %s", asked.status, asked.body)
		}
		answer := fmt.Sprintf(`"name":"confirm","requestState":%q,"inputResponses":{"sure":{"action":"accept","content":{}}}`, state)
		forged := strings.Replace(answer, state, "x"+state[1:], 1)
		stranger, nonsense := s.modern("bob", "tools/call", "confirm", answer), s.modern("bob", "tools/call", "confirm", forged)
		if stranger.get("error") == "" || stranger.get("error") != nonsense.get("error") {
			t.Errorf("a stranger's answer: %s, a forged one: %s", stranger.body, nonsense.body)
		}
		if got := s.modern("alice", "tools/call", "confirm", answer); !strings.Contains(got.body, "confirmed by alice") {
			t.Errorf("her own answer: %s", got.body)
		}

		started := s.modern("alice", "tools/call", "job", `"name":"job"`)
		id := started.get("result", "taskId")
		if id == "" {
			t.Fatalf("no task: %d %s", started.status, started.body)
		}
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
			const params = `"taskId":%q,"inputResponses":{}`
			one := s.modern("bob", method, id, fmt.Sprintf(params, id))
			other := s.modern("bob", method, "x"+id[1:], fmt.Sprintf(params, "x"+id[1:]))
			if one.get("error") == "" || one.get("error") != other.get("error") {
				t.Errorf("%s of a stranger: %s, of nobody's: %s", method, one.body, other.body)
			}
		}
		if got := s.modern("alice", "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id)); got.get("result", "status") != "working" {
			t.Errorf("her own task: %s", got.body)
		}
		cursor := `"cursor":"` + state + `"`
		if got := s.modern("bob", "tools/list", "", cursor); got.get("error", "code") != "-32602" {
			t.Errorf("a handle of another kind as a cursor: %s", got.body)
		}
	})
}

// W34.7: what a caller may see is decided for each, whatever may be cached.
func TestListsAreMadeForWhoAsks(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		for user, want := range map[string]bool{"alice": true, "bob": false} {
			list := s.modern(user, "tools/list", "", "")
			if got := strings.Contains(list.body, `"alices"`); got != want || list.get("result", "cacheScope") != "private" {
				t.Errorf("%s sees %s", user, list.body)
			}
			call := s.modern(user, "tools/call", "alices", `"name":"alices"`)
			if got := strings.Contains(call.body, "for alice"); got != want {
				t.Errorf("%s called: %s", user, call.body)
			}
		}
	})
}

// W38.2, W38.9, W38.10, W38.20
func TestAToolMayNeedMoreThanTheRest(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		const challenge = `Bearer error="insufficient_scope", error_description="%s", scope="read write", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"`
		session := s.session("alice")
		for name, tc := range map[string]struct {
			reply  reply
			lacks  string
			status int
		}{
			"with a session, nothing granted": {s.legacy("alice", session, "tools/call", `{"name":"write"}`), "the token lacks the scope write read", 403},
			"with a session, one is missing":  {s.legacy("alice-read", session, "tools/call", `{"name":"write"}`), "the token lacks the scope write", 403},
			"with a session, all are granted": {s.legacy("alice-read.write.x", session, "tools/call", `{"name":"write"}`), "", 200},
			"stateless, nothing granted":      {s.modern("bob", "tools/call", "write", `"name":"write"`), "the token lacks the scope write read", 403},
			"stateless, all are granted":      {s.modern("bob-write.read", "tools/call", "write", `"name":"write"`), "", 200},
		} {
			got := tc.reply
			want := ""
			if tc.lacks != "" {
				want = fmt.Sprintf(challenge, tc.lacks)
			}
			if got.status != tc.status || got.header.Get("WWW-Authenticate") != want || (tc.status == 200) != strings.Contains(got.body, "written") {
				t.Errorf("%s: %d %s %s", name, got.status, got.header.Get("WWW-Authenticate"), got.body)
			}
			if tc.status == 403 && (got.get("error", "data", "reason") != "insufficient_scope" || got.get("id") == "") {
				t.Errorf("%s: the body is %s", name, got.body)
			}
		}
		// The tool is listed for all: a client that does not see it cannot ask for more.
		if got := s.legacy("alice", session, "tools/list", "{}"); !strings.Contains(got.body, `"write"`) {
			t.Error(got.body)
		}
	})
}

// B10.8, B15.9
func TestAListenEndsWithItsToken(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		begun := time.Now()
		listen := read(t, s.modernOpen(t.Context(), "alice", "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`))
		if took := time.Since(begun); took < life || took > life+time.Minute || listen.get("result", "resultType") != "complete" {
			t.Errorf("after %s: %s", took, listen.body)
		}
		session := s.session("alice")
		begun = time.Now()
		stream := read(t, s.open(t.Context(), "GET", "alice", "", "Mcp-Session-Id", session))
		if took := time.Since(begun); took < life || took > life+time.Minute || stream.status != 200 {
			t.Errorf("the GET, after %s: %d", took, stream.status)
		}
		if got := s.legacy("alice", session, "ping", "{}"); got.status != 200 {
			t.Errorf("the session, with a new token: %d %s", got.status, got.body)
		}
	})
}

// W38.13: the token shows in no log and no answer.
func TestTheTokenShowsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := newStack(t, nil, middleware.RequestLog(logger))
		session := s.session("alice")
		all := &log
		for _, r := range []reply{
			s.legacy("alice", session, "tools/call", `{"name":"who"}`), s.legacy("alice", session, "tools/call", `{"name":"write"}`),
			s.legacy("alice", "no-session", "ping", "{}"), s.modern("alice", "tools/call", "write", `"name":"write"`), s.modern("alice", "no/such", "", ""),
		} {
			_, _ = fmt.Fprintln(all, r.status, r.header, r.body)
		}
		if !strings.Contains(all.String(), "tools/call") || strings.Contains(all.String(), "token-of-a-user") {
			t.Errorf("in %s", all)
		}
	})
}

// P33.7, W38.3
func TestATokenInTheQueryIsRefused(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.web.URL+"/mcp?access_token="+token("alice"), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		resp, err := s.web.Client.Do(r)
		must(t, err)
		if got := read(t, resp); got.status != 400 || strings.Contains(got.body, "alice") {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// C18: both spellings of the endpoint ask for the token, and neither sends a
// client elsewhere with it.
func TestBothSpellingsAskForTheToken(t *testing.T) {
	inStack(t, nil, func(t *testing.T, s *stack) {
		for _, path := range []string{"/mcp", "/mcp/"} {
			for user, want := range map[string]int{"": 401, "alice": 200} {
				r, err := http.NewRequestWithContext(t.Context(), "POST", s.web.URL+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
				must(t, err)
				r.Header.Set("Content-Type", "application/json")
				if user != "" {
					r.Header.Set("Authorization", "Bearer "+token(user))
				}
				resp, err := s.web.Client.Do(r)
				must(t, err)
				got := read(t, resp)
				if got.status != want || (want == 401) != strings.Contains(got.header.Get("WWW-Authenticate"), "/.well-known/oauth-protected-resource/mcp") {
					t.Errorf("%s as %q: %d %v", path, user, got.status, got.header)
				}
			}
		}
	})
}
