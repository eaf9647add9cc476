package httpleg

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/google/go-cmp/cmp"
)

func yes(string) bool { return true }

// session is a server of one session: initialize, then whatever next says.
func session(revision string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			m := message(r)
			switch m.Method {
			case "initialize":
				w.Header().Set("Mcp-Session-Id", "s-1")
				write(w, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{"protocolVersion":"`+revision+`","capabilities":{}}}`)
				return
			case "notifications/initialized":
				w.WriteHeader(202)
				return
			}
			r.Header.Set("X-Id", m.ID.String())
			r.Header.Set("X-Method", m.Method)
		}
		next(w, r)
	}
}

func (r *rig) initialize(t *testing.T) {
	t.Helper()
	if _, err := r.Initialize(t.Context(), []byte(`{}`), yes); err != nil {
		t.Fatal(err)
	}
}

// W14.2, W15.1
func TestHeaders(t *testing.T) { // W8.2, W10.4
	var seen []string
	record := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			line := r.Method + " " + r.Host
			for _, name := range []string{"Accept", "Content-Type", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region"} {
				line += " | " + r.Header.Get(name)
			}
			seen = append(seen, line)
			for name := range r.Header {
				switch name {
				case "Accept", "Content-Type", "Content-Length", "User-Agent", "Accept-Encoding", "X-Extra",
					"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region":
				default:
					t.Errorf("unexpected header %s", name) // R19
				}
			}
			h(w, r)
		}
	}
	ok := func(w http.ResponseWriter, r *http.Request) {
		write(w, `{"jsonrpc":"2.0","id":`+r.Header.Get("X-Id")+`,"result":{}}`)
	}
	const both, json, here = "application/json, text/event-stream", "application/json", "127.0.0.1:3000"
	for revision, version := range map[string]string{"2025-03-26": "", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25"} { // W11.1, B5.10
		t.Run(revision, func(t *testing.T) {
			seen = nil
			bubble(t, Config{Header: http.Header{"X-Extra": {"1"}}}, record(session(revision, ok)), func(t *testing.T, r *rig) {
				r.initialize(t)
				r.call(t.Context(), "tools/list")
			})
			want := []string{
				fmt.Sprintf("POST %s | %s | %s |  |  |  |  | ", here, both, json),
				fmt.Sprintf("POST %s | %s | %s | s-1 | %s |  |  | ", here, both, json, version),
				fmt.Sprintf("POST %s | %s | %s | s-1 | %s |  |  | ", here, both, json, version),
				fmt.Sprintf("DELETE %s |  |  | s-1 | %s |  |  | ", here, version), // W10.8
			}
			if diff := cmp.Diff(want, seen); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("with an envelope", func(t *testing.T) { // W15
		seen = nil
		bubble(t, Config{Header: http.Header{"X-Extra": {"1"}}}, record(answer(`{"jsonrpc":"2.0","id":$ID,"result":{}}`)), func(t *testing.T, r *rig) {
			_, err := r.Call(t.Context(), peer.Request{Method: "tools/call", Revision: "2026-07-28", Name: "wetter-übersicht",
				Fields: []peer.Field{{Name: "Mcp-Param-Region", Value: "us west 1"}}})
			if err != nil {
				t.Fatal(err)
			}
		})
		want := []string{fmt.Sprintf("POST %s | %s | %s |  | 2026-07-28 | tools/call | =?base64?d2V0dGVyLcO8YmVyc2ljaHQ=?= | us west 1", here, both, json)}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASessionIdThatCannotBeSentBackIsNone(t *testing.T) {
	bubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "a b") // W10.3
		answer(`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18"}}`)(w, r)
	}, func(t *testing.T, r *rig) {
		r.call(t.Context(), "initialize")
		if got := r.leg.SessionID(); got != "" {
			t.Errorf("kept %q", got)
		}
	})
}

func TestRedirects(t *testing.T) { // R17
	for name, tc := range map[string]struct {
		location, want string
		status         int
	}{
		"to another path":             {"/mcp/", `{"path":"/mcp/","method":"POST"}`, 301},
		"a POST stays one after 302":  {"/b", `{"path":"/b","method":"POST"}`, 302},
		"307 and 308":                 {"/b", `{"path":"/b","method":"POST"}`, 308},
		"absolute, to itself":         {"http://127.0.0.1:3000/b", `{"path":"/b","method":"POST"}`, 307},
		"absolute, by its other name": {"http://localhost:3000/b", `{"path":"/b","method":"POST"}`, 307},
		"to another port":             {"http://127.0.0.1:3001/b", "failure redirected", 307},
		"to another host":             {"http://example.com/mcp", "failure redirected", 307},
		"to another scheme":           {"https://127.0.0.1:3000/mcp", "failure redirected", 307},
		"in circles":                  {"/mcp", "failure redirected", 307},
		"to nowhere":                  {"", "failure redirected", 307},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{Host: "127.0.0.1:3000", AltHost: "localhost:3000"}, func(w http.ResponseWriter, r *http.Request) {
				m := message(r)
				if r.URL.Path == "/mcp" {
					if tc.location != "" {
						w.Header().Set("Location", tc.location)
					}
					w.WriteHeader(tc.status)
					return
				}
				write(w, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{"path":"`+r.URL.Path+`","method":"`+r.Method+`"}}`)
			}, func(t *testing.T, r *rig) {
				if got := r.call(t.Context(), "x"); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestTheOtherHostIsTriedOnceAndKept(t *testing.T) { // C20, R19
	var hosts []string
	refused := ""
	bubble(t, Config{Host: "127.0.0.1:3000", AltHost: "localhost:3000", Hooks: Hooks{HostRefused: func(h string) { refused = h }}},
		func(w http.ResponseWriter, r *http.Request) {
			hosts = append(hosts, r.Host)
			if r.Host != "localhost:3000" {
				http.Error(w, "Invalid Host header", 421)
				return
			}
			answer(`{"jsonrpc":"2.0","id":$ID,"result":{}}`)(w, r)
		}, func(t *testing.T, r *rig) {
			for range 2 {
				if got := r.call(t.Context(), "x"); got != "{}" {
					t.Error(got)
				}
			}
			if diff := cmp.Diff([]string{"127.0.0.1:3000", "localhost:3000", "localhost:3000"}, hosts); diff != "" || refused != "127.0.0.1:3000" {
				t.Error(diff, refused)
			}
		})
}

func TestAPlainBadRequestEndsNoSession(t *testing.T) { // R10, B3.7, W1.3
	const (
		goneText = `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`
		badText  = `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: session parameter"},"id":null}`
		oursText = `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":$ID}`
	)
	for name, tc := range map[string]struct {
		status   int
		body     string
		look     int
		want     string
		wantGone bool
	}{
		"404 and the ping is refused too":              {404, goneText, 404, "failure session_gone", true},
		"404 without a word":                           {404, "", 404, "failure session_gone", true},
		"400 that speaks of the session":               {400, `{"error":"No valid session ID provided"}`, 400, "failure session_gone", true},
		"400 that speaks of a session, but ping works": {400, badText, 200, "failure http_status", false},
		"404 but ping works":                           {404, "", 200, "failure http_status", false},
		"400 about something else":                     {400, "bad arguments", 500, "failure http_status", false},
		"404 that repeats our id":                      {404, oursText, 404, "failure session_gone", true},
		"404 that repeats our id, but ping works":      {404, oursText, 200, "rpc -32001 ", false},
		"404 that answers something else":              {404, `{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":$ID}`, 404, "rpc -32601 ", false},
	} {
		t.Run(name, func(t *testing.T) {
			used := map[string]bool{}
			bubble(t, Config{}, session("2025-06-18", func(w http.ResponseWriter, r *http.Request) {
				if id := r.Header.Get("X-Id"); used[id] && id != "" {
					t.Errorf("the id %s was used before", id)
				} else {
					used[id] = true
				}
				switch {
				case r.Method == http.MethodDelete:
				case r.Header.Get("X-Method") == "ping":
					w.WriteHeader(tc.look)
				default:
					body := strings.ReplaceAll(tc.body, "$ID", r.Header.Get("X-Id"))
					w.WriteHeader(tc.status)
					write(w, body)
				}
			}), func(t *testing.T, r *rig) {
				r.initialize(t)
				for range 2 {
					if got := r.call(t.Context(), "tools/list"); got != tc.want {
						t.Errorf("got %s, want %s", got, tc.want)
					}
				}
				if r.leg.isGone() != tc.wantGone {
					t.Errorf("gone: %v", r.leg.isGone())
				}
			})
		})
	}
}

// W9.6
func TestABrokenStreamIsTakenUpAgain(t *testing.T) { // B3.9, W8.8, W9.6, W9.9
	for name, tc := range map[string]struct {
		first  string   // the POST's stream
		gets   []string // what each GET brings: "NNN" a status, else a stream
		want   string
		waited time.Duration
		ids    string
	}{
		"closed early with an id and a retry": {
			"id: a.1\nretry: 500\ndata:\n\n", []string{"id: a.2\ndata: $ANSWER\n\n"}, "{}", 500 * time.Millisecond, "a.1"},
		"in several pieces": {
			"id: 1\ndata:\n\n", []string{"id: 2\ndata:\n\n", "503", "data: $ANSWER\n\n"}, "{}", time.Second + time.Second + 2*time.Second, "1 2 2"},
		"without an id there is nothing to ask for": {
			": hi\n\n", nil, "failure stream_lost", 0, ""},
		"the server does not know it any more": {
			"id: 1\ndata:\n\n", []string{"404"}, "failure stream_lost", time.Second, "1"},
		"five times nothing new": {
			"id: 1\ndata:\n\n", []string{": a\n\n", ": a\n\n", ": a\n\n", ": a\n\n", ": a\n\n", ": a\n\n"}, "failure stream_lost", 31 * time.Second, "1 1 1 1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []string
			var resumed atomic.Int32
			bubble(t, Config{Hooks: Hooks{Resumed: func() { resumed.Add(1) }}}, session("2025-11-25", func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodPost:
					write(w, tc.first)
				case http.MethodGet:
					i := len(ids)
					ids = append(ids, r.Header.Get("Last-Event-Id"))
					if i >= len(tc.gets) {
						w.WriteHeader(500)
						return
					}
					var status int
					if n, _ := fmt.Sscanf(tc.gets[i], "%d", &status); n == 1 {
						w.WriteHeader(status)
						return
					}
					write(w, strings.ReplaceAll(tc.gets[i], "$ANSWER", `{"jsonrpc":"2.0","id":2,"result":{}}`))
				}
			}), func(t *testing.T, r *rig) {
				r.initialize(t)
				begin := time.Now()
				if got := r.call(t.Context(), "tools/call"); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				if waited := time.Since(begin); waited != tc.waited {
					t.Errorf("waited %v, want %v", waited, tc.waited)
				}
				if got := strings.Join(ids, " "); got != tc.ids {
					t.Errorf("asked after %q, want %q", got, tc.ids)
				}
			})
		})
	}
}

// W8.11
func TestTheStandaloneStream(t *testing.T) { // P6
	const changed = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n"
	t.Run("is open from initialized on, comes back, and delivers", func(t *testing.T) {
		var ids []string
		bubble(t, Config{Listen: true}, session("2025-06-18", func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				return
			}
			ids = append(ids, r.Header.Get("Last-Event-Id"))
			if len(ids) < 3 {
				write(w, fmt.Sprintf("id: g%d\n", len(ids))+changed)
				return
			}
			write(w, ": ok\n\n"+changed)
			<-r.Context().Done()
		}), func(t *testing.T, r *rig) {
			r.initialize(t)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := r.got(); got != strings.TrimSpace(strings.Repeat("notifications/tools/list_changed ", 3)) {
				t.Errorf("delivered %q", got)
			}
			if diff := cmp.Diff([]string{"", "g1", "g2"}, ids); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("405 means none, and no more attempts", func(t *testing.T) {
		gets := 0
		var told []string
		bubble(t, Config{Listen: true, Hooks: Hooks{Listening: func(s string) { told = append(told, s) }}}, session("2025-06-18", func(w http.ResponseWriter, r *http.Request) {
			gets++
			w.WriteHeader(405)
		}), func(t *testing.T, r *rig) {
			r.initialize(t)
			time.Sleep(time.Hour)
			synctest.Wait()
			if gets != 1 || len(told) != 1 || told[0] != "refused" {
				t.Error(gets, told)
			}
		})
	})
	t.Run("failures are retried with growing pauses", func(t *testing.T) {
		gets := 0
		bubble(t, Config{Listen: true}, session("2025-06-18", func(w http.ResponseWriter, r *http.Request) {
			gets++
			w.WriteHeader(503)
		}), func(t *testing.T, r *rig) {
			r.initialize(t)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if gets < 12 || gets > 16 {
				t.Errorf("%d attempts in five minutes", gets)
			}
		})
	})
	t.Run("an event over the limit is skipped", func(t *testing.T) {
		gets := 0
		bubble(t, Config{Listen: true, MaxMessageBytes: 1000}, session("2025-06-18", func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				return
			}
			if gets++; gets == 1 {
				write(w, "id: 7\ndata: "+strings.Repeat("x", 2000)+"\n\n")
				return
			}
			write(w, changed)
			<-r.Context().Done()
		}), func(t *testing.T, r *rig) {
			r.initialize(t)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if got := r.got(); got != "notifications/tools/list_changed" || len(r.drops) != 1 {
				t.Error(got, r.drops)
			}
		})
	})
	t.Run("requests there are answered by a POST", func(t *testing.T) {
		var posted string
		bubble(t, Config{Listen: true}, session("2025-06-18", func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				write(w, `data: {"jsonrpc":"2.0","id":"q","method":"ping"}`+"\n\n")
				<-r.Context().Done()
			case r.Header.Get("X-Id") != "":
				posted = r.Header.Get("X-Id")
				w.WriteHeader(202)
			}
		}), func(t *testing.T, r *rig) {
			r.initialize(t)
			synctest.Wait()
			if posted != `"q"` {
				t.Errorf("posted %q", posted)
			}
		})
	})
}
