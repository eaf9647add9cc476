package streamable_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// R20, B15.7: the clocks of a session.
func TestSessionClocks(t *testing.T) {
	alive := func(l *lab, id string) bool {
		return l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header: on(id)}).status == 200
	}
	t.Run("nothing after initialize", func(t *testing.T) {
		b := &backend{}
		inLab(t, b, func(l *lab) {
			l.connect("2025-11-25", "{}")
			time.Sleep(59 * time.Second)
			synctest.Wait()
			if l.server.Sessions() != 1 {
				t.Error("ended early")
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if l.server.Sessions() != 0 {
				t.Error("still there")
			}
			if ends := b.endings(); len(ends) != 1 || !errors.Is(ends[0], session.ErrHandshake) {
				t.Errorf("told %v", ends)
			}
		})
	})
	t.Run("any message ends the handshake time", func(t *testing.T) {
		inLab(t, &backend{}, func(l *lab) {
			for _, body := range []string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, list, `{"jsonrpc":"2.0","id":"u","result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`} {
				id := l.connect("2025-11-25", "{}")
				l.ask(call{body: body, header: on(id)})
				time.Sleep(59 * time.Minute)
				if !alive(l, id) {
					t.Errorf("%s: ended early", body)
				}
			}
		})
	})
	t.Run("idle", func(t *testing.T) {
		b := &backend{}
		inLab(t, b, func(l *lab) {
			id := l.connect("2025-11-25", "{}")
			for range 3 {
				alive(l, id)
				time.Sleep(59 * time.Minute)
			}
			if !alive(l, id) {
				t.Error("ended early")
			}
			time.Sleep(61 * time.Minute)
			if alive(l, id) {
				t.Error("still there")
			}
			if ends := b.endings(); len(ends) != 1 || !errors.Is(ends[0], session.ErrIdle) {
				t.Errorf("told %v", ends)
			}
		})
	})
	t.Run("not while something is open", func(t *testing.T) {
		inHeldLab(t, func(l *lab, h *held) {
			l.settings(func(s *streamable.Settings) { s.RequestTimeout = 24 * time.Hour })
			listening, calling := l.connect("2025-11-25", "{}"), l.connect("2025-06-18", "{}")
			get := l.stream(call{method: "GET", header: on(listening)})
			post := l.stream(call{body: callTool, header: on(calling)})
			go func() { // somebody reads both
				for {
					if _, err := get.r.Next(); err != nil {
						return
					}
				}
			}()
			go func() {
				time.Sleep(5 * time.Hour)
				h.release <- done("x")
			}()
			post.message()
			post.ended()
			if !alive(l, listening) || !alive(l, calling) {
				t.Error("ended")
			}
			get.close()
			synctest.Wait()
			time.Sleep(61 * time.Minute)
			if alive(l, listening) {
				t.Error("still there")
			}
		})
	})
}

// P1: sessions are bounded, per process and per principal.
func TestSessionLimits(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		l.server.Authenticate = func(r *http.Request) (*auth.Identity, error) {
			return &auth.Identity{Principal: r.Header.Get("Authorization")}, nil
		}
		l.settings(func(s *streamable.Settings) { s.MaxSessions, s.MaxSessionsPerPrincipal = 5, 3 })
		open := func(who string) answerTo {
			return l.ask(call{body: initialize("2025-11-25", "{}"), header: map[string]string{"Authorization": who}})
		}
		var ids []string
		for range 3 {
			ids = append(ids, open("alice").header.Get("Mcp-Session-Id"))
		}
		if a := open("alice"); a.status != 503 || a.header.Get("Retry-After") == "" || a.header.Get("Mcp-Session-Id") != "" || a.id() != `"init"` {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		open("bob")
		open("bob")
		if a := open("bob"); a.status != 503 {
			t.Errorf("%d", a.status)
		}
		l.ask(call{method: "DELETE", header: with(on(ids[0]), "Authorization", "alice")})
		if a := open("alice"); a.status != 200 {
			t.Errorf("after a DELETE: %d", a.status)
		}
		l.settings(func(s *streamable.Settings) { s.MaxSessions, s.MaxSessionsPerPrincipal = 6, 4 }) // live
		if a := open("alice"); a.status != 200 {
			t.Errorf("after the limit was raised: %d", a.status)
		}
	})
}

// D9: an id of another pod, server or key is unknown.
func TestForeignSessionIDs(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		elsewhere := &seal.Keyring{Server: "uid"}
		_ = elsewhere.LoadEphemeral()
		forged, _ := elsewhere.SealSession(seal.Session{Kind: seal.KindStateful, Random: seal.NewRandom()}, "")
		known, _ := l.server.Keys.SealSession(seal.Session{Kind: seal.KindStateful, Pod: "pod-2", Random: seal.NewRandom()}, "")
		want := l.ask(call{body: list, header: on("dead-0001")})
		for name, other := range map[string]string{
			"forged": forged, "of another pod": known, "cut": id[:len(id)-2], "longer": id + "A", "flipped": id[:20] + string(id[20]^1) + id[21:], "long": strings.Repeat("x", 5000),
		} {
			if a := l.ask(call{body: list, header: on(other)}); a.status != 404 || a.body != want.body {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
	})
}

// Capabilities and client info are bounded in what a session keeps.
func TestWhatSessionsKeep(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.connect("2025-11-25", `{"sampling":{},"experimental":{"x":1.0}}`)
		if got := string(b.session(0).ClientCapabilities()); got != `{"sampling":{},"experimental":{"x":1.0}}` {
			t.Error(got)
		}
		big := `{"experimental":{"x":"` + strings.Repeat("a", 40<<10) + `"}}`
		if a := l.ask(call{body: initialize("2025-11-25", big)}); a.status != 200 || a.code() != "-32602" {
			t.Errorf("%d", a.status)
		}
		icons := strings.Repeat("a", 100<<10)
		body := strings.Replace(initialize("2025-11-25", "{}"), `"name":"c"`, `"icons":[{"src":"data:`+icons+`"}],"name":"c"`, 1)
		if a := l.ask(call{body: body}); a.status != 200 {
			t.Errorf("%d", a.status)
		}
		info := b.session(1).(*dispatch.Legacy).ClientInfo()
		if string(info) != `{"name":"c","version":"0"}` {
			t.Errorf("%d bytes of client info: %.80s", len(info), info)
		}
		l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`})
		if got := string(b.session(2).ClientCapabilities()); got != `{}` {
			t.Error(got)
		}
	})
}

// Requests in work are bounded, the others wait their turn, and those
// beyond fail at once.
func TestConcurrency(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		l.settings(func(s *streamable.Settings) { s.MaxConcurrent = 2 })
		answers := make(chan answerTo, 40)
		ask := func() {
			go func() {
				answers <- l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")})
			}()
		}
		for range 2 + 20 {
			ask()
		}
		synctest.Wait()
		if n := len(h.exchanges); n != 2 {
			t.Fatalf("%d in work", n)
		}
		ask()
		if a := <-answers; a.code() != "-32603" || !strings.Contains(a.body, `"reason":"busy"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		go func() {
			for range 22 {
				<-h.exchanges
			}
		}()
		for range 22 {
			h.release <- done("x")
		}
		for range 22 {
			if a := <-answers; !strings.Contains(a.body, "done") {
				t.Errorf("%s", a.body)
			}
		}
		// Who waits and goes away makes room.
	})
}

// A panic of the server is one failed request.
func TestPanic(t *testing.T) {
	var stack []byte
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.server.Observer.Panicked = func(_ any, s []byte) { stack = s }
		b.serve = panicking
		a := l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")})
		if a.status != 200 || a.code() != "-32603" || strings.Contains(a.body, "boom") || len(stack) == 0 {
			t.Errorf("%d %s", a.status, a.body)
		}
		b.serve = nil
		if a := l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}); a.status != 200 || a.code() != "" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
