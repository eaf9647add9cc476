package edgetest

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// Origins: a browser of another site gets 403 and nothing runs. W17.1, W17.2,
// P33.9.
func Origins(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{Origins: []string{"https://ok.example", "http://dev.example:3000"}}, func(c *client) {
		id := c.connect("2025-11-25")
		before := w.served()
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
				a := c.ask(call{method: method, body: list, header: with(on(id), "Origin", origin)})
				if want := 403; !allowed && a.status != want {
					t.Errorf("%s with origin %q: %d %s", method, origin, a.status, a.body)
				}
				if allowed && (a.status >= 300 || a.header.Get("Access-Control-Allow-Origin") != origin) {
					t.Errorf("%s with origin %q: %d %v", method, origin, a.status, a.header)
				}
				if a.header.Get("Access-Control-Allow-Origin") == "*" || a.header.Get("Access-Control-Allow-Credentials") != "" || a.header.Get("Set-Cookie") != "" {
					t.Errorf("%q: too much is allowed", origin)
				}
			}
		}
		a := c.ask(call{body: list, header: on(id), lines: http.Header{"Origin": {"https://ok.example", "https://ok.example"}}})
		if a.status != 403 {
			t.Errorf("two origins: %d", a.status)
		}
		if got := w.served() - before; got != 4 {
			t.Errorf("%d calls reached the server, want the 4 allowed ones", got)
		}
	})
}

// LocalNames: a listener on a loopback address takes local names only, whatever
// a proxy is said to have seen. W17.4, P33.8, P33.9.
func LocalNames(t *testing.T, target Target) {
	for _, addr := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} {
		target.open(t, &workload{}, Settings{Address: addr}, func(c *client) {
			for host, allowed := range map[string]bool{
				"localhost": true, "localhost:17080": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1": true, "127.0.0.1:80": true, "127.9.9.9": true,
				"[::1]": true, "[::1]:80": true, "[::ffff:127.0.0.1]": true,
				"[localhost]": false, "[127.0.0.1]:80": false, "127.0.0.1.evil": false, "127.0.0.1:evil.com": false, "localhost.evil.com": false, "mcp.example": false, "10.1.2.3": false, "0.0.0.0": false, "localhost:": true,
			} {
				a := c.ask(call{body: initialize("2025-11-25"), header: map[string]string{"Host": host}})
				if (a.status == 200) != allowed || !allowed && a.status != 403 && a.status != 400 {
					t.Errorf("host %q: %d", host, a.status)
				}
			}
			// net/http's client would take the zone off.
			if res := c.raw("GET /mcp HTTP/1.1\r\nHost: [::1%lo]:80\r\n\r\n", nil); res.StatusCode != 403 && res.StatusCode != 400 {
				t.Errorf("a zone: %d", res.StatusCode)
			}
			for origin, allowed := range map[string]bool{
				"http://localhost:3000": true, "https://127.0.0.1": true, "http://[::1]:9": true, "http://evil.com": false, "http://localhost.evil.com": false, "null": false,
			} {
				a := c.ask(call{body: initialize("2025-11-25"), header: map[string]string{"Host": "localhost", "Origin": origin}})
				if (a.status == 200) != allowed || !allowed && a.status != 403 {
					t.Errorf("origin %q: %d", origin, a.status)
				}
			}
			for _, h := range []map[string]string{{"Host": "evil.example"}, {"Host": "localhost", "Origin": "http://evil.example"}} {
				for name, value := range forged {
					h[name] = value
				}
				if a := c.ask(call{body: initialize("2025-11-25"), header: h}); a.status != 403 {
					t.Errorf("%v: %d", h, a.status)
				}
			}
		})
	}
}

// forged is what a client may claim that a proxy has seen.
var forged = map[string]string{
	"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost", "X-Forwarded-Proto": "https", "Forwarded": "for=127.0.0.1;host=localhost;proto=https", "X-Real-Ip": "127.0.0.1",
	"X-Forwarded-Prefix": "/crm",
}

// Forwarded: what a proxy is said to have seen leads nobody anywhere. P33.8.
func Forwarded(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		a := c.ask(call{body: initialize("2025-11-25"), header: forged})
		if a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		for name, values := range a.header {
			if text := strings.Join(values, ","); strings.Contains(text, "localhost") || strings.Contains(text, "crm") || name == "Location" {
				t.Errorf("%s: %v", name, values)
			}
		}
	})
}

// Preflights are answered before anything else is asked. R21, P33.3, P34,
// W17.5.
func Preflights(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{Origins: []string{"https://ok.example"}}, func(c *client) {
		a := c.ask(call{method: "OPTIONS", header: map[string]string{
			"Origin": "https://ok.example", "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "Content-Type, Mcp-Session-Id, mcp-param-Region, X-Evil, mcp-param-a b",
		}})
		if a.status != 204 || a.header.Get("Access-Control-Allow-Headers") != "content-type, mcp-session-id, mcp-param-region" {
			t.Errorf("%d %v", a.status, a.header)
		}
		if !strings.Contains(a.header.Get("Access-Control-Allow-Methods"), "DELETE") {
			t.Error("DELETE is not listed")
		}
		// Errors carry the fields too, or a page cannot read them.
		a = c.ask(call{body: list, header: with(on("dead-0001"), "Origin", "https://ok.example")})
		if a.status != 404 || a.header.Get("Access-Control-Allow-Origin") != "https://ok.example" || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
			t.Errorf("%d %v", a.status, a.header)
		}
		if a = c.ask(call{method: "OPTIONS"}); a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("without an origin: %d %v", a.status, a.header)
		}
	})
}

// Accept as HTTP says. R1, C12, P33.5.
func Accept(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		for accept, want := range map[string]string{
			"-": "json", "*/*": "json", "application/*, text/*;q=0.5": "json", "application/json": "json", "APPLICATION/JSON": "json",
			"text/event-stream": "sse", "text/event-stream, application/json": "json", "text/event-stream;charset=utf-8": "sse", "text/*": "sse",
			"application/json;q=0, text/event-stream": "sse", "*/*, application/json;q=0": "sse", "application/json;q=0.0": "406",
			"text/html": "406", "application/xml, image/*": "406", "*/*;q=0": "406", "application/json;q=broken": "json", "": "json",
		} {
			a := c.ask(call{body: list, header: with(on(id), "Accept", accept)})
			got := map[string]string{"application/json": "json", "text/event-stream": "sse"}[a.header.Get("Content-Type")]
			if a.status == 406 {
				got = "406"
			}
			if got != want {
				t.Errorf("Accept %q: %s (%d %s), want %s", accept, got, a.status, a.header.Get("Content-Type"), want)
			}
			if want != "406" && a.message() != `{"jsonrpc":"2.0","id":1,"result":`+answered+`}}` {
				t.Errorf("Accept %q: %q", accept, a.body)
			}
			if want == "sse" && len(messages(a.body)) != 1 {
				t.Errorf("Accept %q: %q", accept, a.body)
			}
			if n := c.ask(call{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header: with(on(id), "Accept", accept)}); (n.status == 202) != (want != "406") {
				t.Errorf("notification with Accept %q: %d", accept, n.status)
			}
			hello := c.ask(call{body: initialize("2025-06-18"), header: map[string]string{"Accept": accept}})
			if session := hello.header.Get("Mcp-Session-Id"); (hello.status == 200 && session != "") != (want != "406") {
				t.Errorf("initialize with Accept %q: %d", accept, hello.status)
			} else if session != "" {
				c.ask(call{method: "DELETE", header: on(session)})
			}
		}
	})
}

// MediaTypes and codings of what is sent. C13, P33.1, P33.5.
func MediaTypes(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		before := w.served()
		for media, want := range map[string]int{
			"application/json": 200, "application/json; charset=utf-8": 200, `application/json;charset="UTF-8"`: 200, "APPLICATION/JSON": 200,
			"application/json; charset=latin1": 415, "application/json-rpc": 415, "text/plain": 415, "-": 415, "application/json; charset": 415, "multipart/form-data; boundary=x": 415,
		} {
			if a := c.ask(call{body: list, header: with(on(id), "Content-Type", media)}); a.status != want {
				t.Errorf("Content-Type %q: %d", media, a.status)
			}
		}
		for coding, want := range map[string]int{"identity": 200, "Identity": 200, "gzip": 415, "br": 415, "gzip, identity": 415} {
			a := c.ask(call{body: list, header: with(on(id), "Content-Encoding", coding)})
			if a.status != want || want == 415 && a.header.Get("Accept-Encoding") != "identity" {
				t.Errorf("Content-Encoding %q: %d %v", coding, a.status, a.header)
			}
		}
		if got := w.served() - before; got != 6 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// Streams are never compressed, and say that nobody on the way may hold them
// back, whatever the client takes. P33.1, R18, C17.
func Streams(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		for what, q := range map[string]call{
			"an answer of 2026-07-28": {body: `{"jsonrpc":"2.0","id":1,"method":"` + asked + `","params":{` + envelope + `}}`, header: modern(asked, "Accept", "text/event-stream")},
			"an answer before":        {body: list, header: with(on(c.connect("2025-06-18")), "Accept", "text/event-stream")},
			"a standalone stream":     {method: "GET", header: on(c.connect("2025-03-26"))},
			"a replay":                {method: "GET", header: with(on(c.connect("2025-06-18")), "Last-Event-ID", "1.1")},
		} {
			q.header = with(q.header, "Accept-Encoding", "gzip, br, zstd")
			res := c.do(q)
			h := res.Header
			if res.StatusCode != 200 || h.Get("Content-Encoding") != "" || h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-cache, no-transform" {
				t.Errorf("%s: %d %v", what, res.StatusCode, h)
			}
			_ = res.Body.Close()
		}
	})
}

// RepeatedFields: a field that decides something may come once. P33.6, W15.3.
func RepeatedFields(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		before := w.served()
		for _, name := range []string{"Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Content-Type"} {
			header := on(id)
			if name == "Mcp-Session-Id" || name == "Content-Type" {
				header = with(header, name, "-")
			}
			a := c.ask(call{body: list, header: header, lines: http.Header{name: {"a", "b"}}})
			if a.status != 400 || a.code() != "-32600" {
				t.Errorf("%s twice: %d %s", name, a.status, a.body)
			}
		}
		a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + asked + `","params":{` + envelope + `}}`,
			header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}, lines: http.Header{"Mcp-Method": {asked, asked}}})
		if a.status != 400 || a.code() != "-32020" {
			t.Errorf("modern: %d %s", a.status, a.body)
		}
		if w.served() != before {
			t.Error("a call reached the server")
		}
	})
}

// Paths: two spellings of one path, no redirect, nothing else. R17, C18, P33.7.
func Paths(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		before := w.served()
		for path, want := range map[string]int{
			"/mcp": 200, "/mcp/": 200, "//mcp": 404, "/mcp//": 404, "/%6Dcp": 404, "/mcp/x": 404, "/MCP": 404, "/": 404, "/mcp?x=1": 200,
			"/mcp?access_token=secret": 400, "/mcp?x=1&access_token=secret": 400,
		} {
			if a := c.ask(call{path: path, body: list, header: on(id)}); a.status != want || strings.Contains(a.body, "secret") {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		if got := w.served() - before; got != 3 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// Methods of HTTP. C14, C22, P33.3, W14.14, W40.11.
func Methods(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		for name, tt := range map[string]struct {
			q      call
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
		} {
			a := c.ask(tt.q)
			if a.status != tt.status || a.header.Get("Allow") != tt.allow || a.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %d %v", name, a.status, a.header)
			}
			if tt.q.method != "HEAD" && (a.code() != "-32600" || a.id() != "none") {
				t.Errorf("%s: body %s", name, a.body)
			}
		}
	})
}
