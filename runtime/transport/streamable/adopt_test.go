package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
)

// adopting is a backend that takes up sessions of others.
type adopting struct {
	backend
	adopt func(dispatch.Session) error
	taken []dispatch.Session
}

func (a *adopting) Adopt(_ context.Context, s dispatch.Session, _ *auth.Identity) error {
	time.Sleep(time.Second) // others come meanwhile
	a.mu.Lock()
	a.taken = append(a.taken, s)
	a.mu.Unlock()
	if a.adopt != nil {
		return a.adopt(s)
	}
	return nil
}

func (a *adopting) takenUp() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.taken)
}

// shaky is a session.Store that can be down.
type shaky struct {
	session.Memory
	mu   sync.Mutex
	down bool
	gets int
}

func (s *shaky) Get(ctx context.Context, key string) (session.Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gets++; s.down {
		return session.Record{}, false, errors.New("the store is down")
	}
	return s.Memory.Get(ctx, key)
}

// pods runs the last of fs with two processes of one server, one of which has a
// session of alice's, and the others before there is one.
func pods(t *testing.T, second *adopting, fs ...func(first, other *lab, store *shaky, id string)) {
	synctest.Test(t, func(t *testing.T) {
		store, keys := &shaky{}, &seal.Keyring{Server: "uid"}
		if err := keys.LoadEphemeral(); err != nil {
			t.Fatal(err)
		}
		who := func(r *http.Request) (*auth.Identity, error) {
			return &auth.Identity{Principal: r.Header.Get("X-User")}, nil
		}
		share := func(l *lab, handler dispatch.Server) {
			l.server.Store, l.server.Keys, l.server.Authenticate, l.server.Handler = store, keys, who, handler
		}
		newLab(t, &backend{}, func(first *lab) {
			share(first, first.backend)
			newLab(t, &second.backend, func(other *lab) {
				share(other, second)
				for _, prepare := range fs[:len(fs)-1] {
					prepare(first, other, store, "")
				}
				a := first.ask(call{body: initialize("2025-06-18", `{"roots":{}}`), header: map[string]string{"X-User": "alice"}})
				fs[len(fs)-1](first, other, store, a.header.Get("Mcp-Session-Id"))
			}, nil)
		}, nil)
	})
}

// forged is id with another letter in the middle; the last may say nothing.
func forged(id string) string {
	at, letter := len(id)/2, "x"
	if id[at] == 'x' {
		letter = "y"
	}
	return id[:at] + letter + id[at+1:]
}

// D9: a session goes on at another process, with what initialize said.
func TestASessionGoesOnElsewhere(t *testing.T) {
	b := &adopting{}
	pods(t, b, func(first, other *lab, store *shaky, id string) {
		alice := with(on(id), "X-User", "alice")
		for name, header := range map[string]map[string]string{
			"of another": with(on(id), "X-User", "bob"), "forged": with(on(forged(id)), "X-User", "alice"), "unknown": with(on("dead-0001"), "X-User", "alice"),
		} {
			if a := other.ask(call{body: list, header: header}); a.status != 404 {
				t.Errorf("%s: %d", name, a.status)
			}
		}
		if store.gets != 0 {
			t.Errorf("the store was asked %d times for what nobody sealed", store.gets)
		}
		first.server.Cut(errors.New("the process ends"))
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"all-%d","method":"tools/list"}`, i)
				if a := other.ask(call{body: body, header: alice}); a.status != 200 || !strings.Contains(a.body, "echo") {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
		all.Wait()
		if b.takenUp() != 1 || store.gets != 1 || other.server.Sessions() != 1 {
			t.Fatalf("taken up %d times after %d questions, %d sessions", b.takenUp(), store.gets, other.server.Sessions())
		}
		s := b.taken[0]
		if s.Revision() != "2025-06-18" || s.Principal() != "alice" || string(s.ClientCapabilities()) != `{"roots":{}}` || string(s.(*dispatch.Legacy).ClientInfo()) == "" {
			t.Errorf("%s of %s, %s", s.Revision(), s.Principal(), s.ClientCapabilities())
		}
		get := other.stream(call{method: "GET", header: alice})
		get.next()
		if err := s.Notify(note(1)); err != nil { // the client counts as ready
			t.Error(err)
		}
		if got := string(get.message().Data); got != string(note(1)) {
			t.Error(got)
		}
		get.close()
		time.Sleep(10 * time.Minute) // no clock of a handshake runs
		if a := other.ask(call{method: "DELETE", header: alice}); a.status != 204 {
			t.Errorf("DELETE: %d", a.status)
		}
		synctest.Wait()
		if a := other.ask(call{body: list, header: alice}); a.status != 404 || len(b.endings()) != 1 {
			t.Errorf("after its end: %d, %v", a.status, b.endings())
		}
	})
}

// P1: as long as nobody can say that a session is gone its client is asked to
// come back.
func TestASessionThatCannotBeTakenUpNow(t *testing.T) {
	b := &adopting{}
	pods(t, b, func(_, other *lab, store *shaky, id string) {
		var failed []error
		other.server.StoreFailed = func(err error) { failed = append(failed, err) }
		alice := with(on(id), "X-User", "alice")
		ask := func() int { return other.ask(call{body: list, header: alice}).status }
		store.down = true
		if status := ask(); status != 503 || len(failed) != 1 {
			t.Errorf("the store is down: %d, %v", status, failed)
		}
		store.down = false
		b.adopt = func(dispatch.Session) error { return errors.New("not now") }
		if status := ask(); status != 503 || other.server.Sessions() != 0 {
			t.Errorf("the server refuses: %d, %d sessions", status, other.server.Sessions())
		}
		b.adopt = func(dispatch.Session) error { panic("boom") }
		if status := ask(); status != 503 || other.server.Sessions() != 0 {
			t.Errorf("the server panics: %d, %d sessions", status, other.server.Sessions())
		}
		b.adopt = func(s dispatch.Session) error { s.Close(errors.New("at once")); return nil }
		if status := ask(); status != 503 && status != 404 || len(b.endings()) != 1 {
			t.Errorf("it ends at once: %d, %v", status, b.endings())
		}
	})
	pods(t, &adopting{}, func(_, other *lab, _ *shaky, id string) {
		other.set.MaxSessionsPerPrincipal = 1
		alice := with(on(id), "X-User", "alice")
		if a := other.ask(call{body: initialize("2025-06-18", "{}"), header: map[string]string{"X-User": "alice"}}); a.status != 200 {
			t.Error(a.status)
		}
		if a := other.ask(call{body: list, header: alice}); a.status != 503 || other.rejected[len(other.rejected)-1] != hook.RejectSessionLimit {
			t.Errorf("one too many: %d %v", a.status, other.rejected)
		}
	})
	pods(t, &adopting{}, func(_, other *lab, store *shaky, id string) {
		other.server.Handler = other.backend // no Adopter
		if a := other.ask(call{body: list, header: with(on(id), "X-User", "alice")}); a.status != 404 || store.gets != 0 {
			t.Errorf("a server that takes up none: %d after %d questions", a.status, store.gets)
		}
	})
}
