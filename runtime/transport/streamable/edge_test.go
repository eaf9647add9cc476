package streamable_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// W17.1, W17.2: a browser of another site gets 403 and nothing runs. P33.
func TestOrigin(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.settings(func(s *streamable.Settings) {
			s.AllowedOrigins = []string{"https://ok.example", "http://dev.example:3000"}
		})
		id := l.connect("2025-11-25", "{}")
		before := b.served()
		for origin, allowed := range map[string]bool{
			"https://ok.example": true, "HTTPS://OK.EXAMPLE": true, "https://ok.example:443": true, "http://dev.example:3000": true,
			"http://ok.example": false, "https://ok.example:444": false, "https://ok.example.evil.com": false, "https://evil.com/ok.example": false,
			"http://ok.example:80@evil": false, "https://user@ok.example": false, "https://ok.example.": false, "https://xn--ok-example.com": false,
			"null": false, "": false, "ok.example": false, "https://": false, "https://ok.example/": false, "https://ok.example?": false, "https://ok.example#": false,
			"http://localhost": false, "http://127.0.0.1:17080": false, "http://[::1]": false, "https://dev.example:3000": false, "http://dev.example": false, "%%": false,
		} {
			for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS", "PUT"} {
				if allowed && method != "OPTIONS" && method != "POST" {
					continue
				}
				a := l.ask(call{method: method, body: list, header: with(on(id), "Origin", origin)})
				if want := 403; !allowed && a.status != want {
					t.Errorf("%s with origin %q: %d %s", method, origin, a.status, a.body)
				}
				if allowed && (a.status >= 300 || a.header.Get("Access-Control-Allow-Origin") != origin) {
					t.Errorf("%s with origin %q: %d %v", method, origin, a.status, a.header)
				}
				if a.header.Get("Access-Control-Allow-Origin") == "*" || a.header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%q: too much is allowed", origin)
				}
			}
		}
		a := l.ask(call{body: list, header: on(id), lines: http.Header{"Origin": {"https://ok.example", "https://ok.example"}}})
		if a.status != 403 {
			t.Errorf("two origins: %d", a.status)
		}
		if got := b.served() - before; got != 4 {
			t.Errorf("%d calls reached the server, want the 4 allowed ones", got)
		}
	})
}

// W17.4, P33.9: a listener on a loopback address takes local names only.
func TestLocalListener(t *testing.T) {
	for _, addr := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} {
		synctest.Test(t, func(t *testing.T) {
			newLab(t, &backend{}, func(l *lab) {
				for host, allowed := range map[string]bool{
					"localhost": true, "localhost:17080": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1": true, "127.0.0.1:80": true, "127.9.9.9": true,
					"[::1]": true, "[::1]:80": true, "[::ffff:127.0.0.1]": true,
					"[localhost]": false, "[127.0.0.1]:80": false, "127.0.0.1.evil": false, "127.0.0.1:evil.com": false, "localhost.evil.com": false, "mcp.example": false, "10.1.2.3": false, "0.0.0.0": false, "localhost:": true,
				} {
					a := l.ask(call{body: initialize("2025-11-25", "{}"), header: map[string]string{"Host": host}})
					if (a.status == 200) != allowed || !allowed && a.status != 403 && a.status != 400 {
						t.Errorf("host %q: %d", host, a.status)
					}
				}
				// net/http's client would take the zone off.
				if res := l.raw("GET /mcp HTTP/1.1\r\nHost: [::1%lo]:80\r\n\r\n", nil); res.StatusCode != 403 && res.StatusCode != 400 {
					t.Errorf("a zone: %d", res.StatusCode)
				}
				for origin, allowed := range map[string]bool{
					"http://localhost:3000": true, "https://127.0.0.1": true, "http://[::1]:9": true, "http://evil.com": false, "http://localhost.evil.com": false, "null": false,
				} {
					a := l.ask(call{body: initialize("2025-11-25", "{}"), header: map[string]string{"Host": "localhost", "Origin": origin}})
					if (a.status == 200) != allowed || !allowed && a.status != 403 {
						t.Errorf("origin %q: %d", origin, a.status)
					}
				}
			}, &net.TCPAddr{IP: addr, Port: 17080})
		})
	}
}

// R21, P33.3, P34, W17.5: preflights are answered before anything else is asked.
func TestPreflight(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) {
			return nil, &streamable.Denied{Status: 401, Challenge: `Bearer`, Message: "no token"}
		}
		l.settings(func(s *streamable.Settings) { s.AllowedOrigins = []string{"https://ok.example"} })
		a := l.ask(call{method: "OPTIONS", header: map[string]string{
			"Origin": "https://ok.example", "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "Content-Type, Mcp-Session-Id, mcp-param-Region, X-Evil, mcp-param-a b",
		}})
		if a.status != 204 || a.header.Get("Access-Control-Allow-Headers") != "content-type, mcp-session-id, mcp-param-region" {
			t.Errorf("%d %v", a.status, a.header)
		}
		if !strings.Contains(a.header.Get("Access-Control-Allow-Methods"), "DELETE") {
			t.Error("DELETE is not listed")
		}
		// Errors carry the fields too, or a page cannot read the challenge.
		a = l.ask(call{body: list, header: map[string]string{"Origin": "https://ok.example"}})
		if a.status != 401 || a.header.Get("Access-Control-Allow-Origin") != "https://ok.example" ||
			!strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%d %v", a.status, a.header)
		}
		if a = l.ask(call{method: "OPTIONS"}); a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("without an origin: %d %v", a.status, a.header)
		}
	})
}

// R1, C12, P33.5: Accept as HTTP says.
func TestAccept(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		for accept, want := range map[string]string{
			"-": "json", "*/*": "json", "application/*, text/*;q=0.5": "json", "application/json": "json", "APPLICATION/JSON": "json",
			"text/event-stream": "sse", "text/event-stream, application/json": "json", "text/event-stream;charset=utf-8": "sse", "text/*": "sse",
			"application/json;q=0, text/event-stream": "sse", "*/*, application/json;q=0": "sse", "application/json;q=0.0": "406",
			"text/html": "406", "application/xml, image/*": "406", "*/*;q=0": "406", "application/json;q=broken": "json", "": "json",
		} {
			a := l.ask(call{body: list, header: with(on(id), "Accept", accept)})
			got := map[string]string{"application/json": "json", "text/event-stream": "sse"}[a.header.Get("Content-Type")]
			if a.status == 406 {
				got = "406"
			}
			if got != want {
				t.Errorf("Accept %q: %s (%d %s), want %s", accept, got, a.status, a.header.Get("Content-Type"), want)
			}
			if want == "sse" {
				if events := parse(a.body); len(events) != 1 || string(events[0].Data) != `{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/list"}}` {
					t.Errorf("Accept %q: %q", accept, a.body)
				}
			}
			if n := l.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header: with(on(id), "Accept", accept)}); (n.status == 202) != (want != "406") {
				t.Errorf("notification with Accept %q: %d", accept, n.status)
			}
		}
	})
}

// C13, P33.1, P33.5
func TestMediaType(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		before := b.served()
		for media, want := range map[string]int{
			"application/json": 200, "application/json; charset=utf-8": 200, `application/json;charset="UTF-8"`: 200, "APPLICATION/JSON": 200,
			"application/json; charset=latin1": 415, "application/json-rpc": 415, "text/plain": 415, "-": 415, "application/json; charset": 415, "multipart/form-data; boundary=x": 415,
		} {
			if a := l.ask(call{body: list, header: with(on(id), "Content-Type", media)}); a.status != want {
				t.Errorf("Content-Type %q: %d", media, a.status)
			}
		}
		for coding, want := range map[string]int{"identity": 200, "Identity": 200, "gzip": 415, "br": 415, "gzip, identity": 415} {
			a := l.ask(call{body: list, header: with(on(id), "Content-Encoding", coding)})
			if a.status != want || want == 415 && a.header.Get("Accept-Encoding") != "identity" {
				t.Errorf("Content-Encoding %q: %d %v", coding, a.status, a.header)
			}
		}
		if got := b.served() - before; got != 6 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// P33.6: a field that decides something may come once. W15.3.
func TestRepeatedFields(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		before := b.served()
		for _, name := range []string{"Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Content-Type"} {
			header := on(id)
			if name == "Mcp-Session-Id" || name == "Content-Type" {
				header = with(header, name, "-")
			}
			a := l.ask(call{body: list, header: header, lines: http.Header{name: {"a", "b"}}})
			if a.status != 400 || a.code() != "-32600" {
				t.Errorf("%s twice: %d %s", name, a.status, a.body)
			}
		}
		a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + envelope + `}}`,
			header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}, lines: http.Header{"Mcp-Method": {"tools/list", "tools/list"}}})
		if a.status != 400 || a.code() != "-32020" {
			t.Errorf("modern: %d %s", a.status, a.body)
		}
		if b.served() != before {
			t.Error("a call reached the server")
		}
	})
}

// R17, C18, P33.7: two spellings of one path, no redirect, nothing else.
func TestPaths(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		before := b.served()
		for path, want := range map[string]int{
			"/mcp": 200, "/mcp/": 200, "//mcp": 404, "/mcp//": 404, "/%6Dcp": 404, "/mcp/x": 404, "/MCP": 404, "/": 404, "/mcp?x=1": 200,
			"/mcp?access_token=secret": 400, "/mcp?x=1&access_token=secret": 400,
		} {
			if a := l.ask(call{path: path, body: list, header: on(id)}); a.status != want || strings.Contains(a.body, "secret") {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		if got := b.served() - before; got != 3 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// C14, C22, P33.3, W14.14, W40.11
func TestMethods(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		tests := map[string]struct {
			c      call
			status int
			allow  string
		}{
			"GET without a session":        {call{method: "GET"}, 405, "POST"},
			"GET of a load balancer":       {call{method: "GET", header: map[string]string{"Accept": "*/*", "User-Agent": "lb-check"}}, 405, "POST"},
			"GET of a modern client":       {call{method: "GET", header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}}, 405, "POST"},
			"DELETE without a session":     {call{method: "DELETE"}, 405, "POST"},
			"HEAD":                         {call{method: "HEAD", header: on(id)}, 405, "POST"},
			"PUT":                          {call{method: "PUT", body: list, header: on(id)}, 405, "POST, GET, DELETE"},
			"PATCH":                        {call{method: "PATCH", body: list}, 405, "POST, GET, DELETE"},
			"GET of an unknown session":    {call{method: "GET", header: on("dead-0001")}, 404, ""},
			"DELETE of an unknown session": {call{method: "DELETE", header: on("dead-0001")}, 404, ""},
			"GET that takes only JSON":     {call{method: "GET", header: with(on(id), "Accept", "application/json")}, 406, ""},
		}
		for name, tt := range tests {
			a := l.ask(tt.c)
			if a.status != tt.status || a.header.Get("Allow") != tt.allow || a.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %d %v", name, a.status, a.header)
			}
			if tt.c.method != "HEAD" && (a.code() != "-32600" || a.id() != "none") {
				t.Errorf("%s: body %s", name, a.body)
			}
		}
	})
}

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
