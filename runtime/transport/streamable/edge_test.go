package streamable_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// W7.5, W10.10, W38.18, W38.3
func TestAuthentication(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.server.Authenticate = func(r *http.Request) (*auth.Identity, error) {
			switch r.Header.Get("Authorization") {
			case "Bearer alice":
				return &auth.Identity{Principal: "alice"}, nil
			case "Bearer bob":
				return &auth.Identity{Principal: "bob"}, nil
			case "Bearer poor":
				return nil, &streamable.Denied{Status: 403, Challenge: `Bearer error="insufficient_scope"`, Message: "scope"}
			}
			return nil, &streamable.Denied{Status: 401, Challenge: `Bearer resource_metadata="x"`, Message: "token"}
		}
		a := l.ask(call{body: initialize("2025-11-25", "{}"), header: map[string]string{"Authorization": "Bearer alice"}})
		id := a.header.Get("Mcp-Session-Id")
		before := b.served()
		// B0.6, W10.11: for every method but the owner's the session is not
		// there; authentication comes before the session and before the body.
		for _, method := range []string{"POST", "GET", "DELETE"} {
			for token, want := range map[string]int{"Bearer bob": 404, "Bearer poor": 403, "-": 401, "Bearer x": 401} {
				a := l.ask(call{method: method, body: list, header: with(on(id), "Authorization", token)})
				if a.status != want || (want < 404) != (a.header.Get("WWW-Authenticate") != "") {
					t.Errorf("%s as %q: %d %v", method, token, a.status, a.header)
				}
			}
		}
		unknown := l.ask(call{body: list, header: with(on("dead-0001"), "Authorization", "Bearer bob")})
		foreign := l.ask(call{body: list, header: with(on(id), "Authorization", "Bearer bob")})
		if unknown.body != foreign.body || unknown.status != foreign.status {
			t.Errorf("foreign %v differs from unknown %v", foreign, unknown)
		}
		if b.served() != before {
			t.Error("a call reached the server")
		}
		if a := l.ask(call{body: list, header: with(on(id), "Authorization", "Bearer alice")}); a.status != 200 {
			t.Errorf("the owner: %d", a.status)
		}
	})
}

// R21, P34, W17.5: a refusal carries the fields of CORS too, or a page cannot
// read the challenge.
func TestAPageCanReadTheChallenge(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) {
			return nil, &streamable.Denied{Status: 401, Challenge: `Bearer`, Message: "no token"}
		}
		l.settings(func(s *streamable.Settings) { s.AllowedOrigins = []string{"https://ok.example"} })
		if a := l.ask(call{method: "OPTIONS", header: map[string]string{"Origin": "https://ok.example", "Access-Control-Request-Method": "POST"}}); a.status != 204 {
			t.Errorf("a preflight needs no token: %d", a.status)
		}
		a := l.ask(call{body: list, header: map[string]string{"Origin": "https://ok.example"}})
		if a.status != 401 || a.header.Get("Access-Control-Allow-Origin") != "https://ok.example" ||
			!strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
}
