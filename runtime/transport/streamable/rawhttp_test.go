package streamable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// P33.4, P33.6, W15.12: requests as sockets bring them, none of which net/http's
// client sends.
func TestRawBodies(t *testing.T) {
	const head = "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\n"
	hello := initialize("2025-11-25", "{}")
	chunked := func(parts ...string) string {
		out := head + "Transfer-Encoding: chunked\r\n\r\n"
		for _, p := range parts {
			out += fmt.Sprintf("%x\r\n%s\r\n", len(p), p)
		}
		return out + "0\r\n"
	}
	sized := func(n int, body string) string { return head + fmt.Sprintf("Content-Length: %d\r\n\r\n", n) + body }
	for name, tt := range map[string]struct {
		send   string
		status int // 0: no answer, the connection just ends
	}{
		"in chunks":                      {chunked(hello[:10], hello[10:]) + "\r\n", 200},
		"in chunks of one byte":          {chunked(strings.Split(hello, "")...) + "\r\n", 200},
		"in chunks with trailers":        {chunked(hello) + "Mcp-Session-Id: x\r\nX-Trailer: y\r\n\r\n", 200},
		"in chunks, cut":                 {head + "Transfer-Encoding: chunked\r\n\r\nff\r\n" + hello[:20], 0},
		"in chunks that are none":        {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"shorter than it said":           {sized(len(hello)+10, hello), 0},
		"longer than it said":            {sized(len(hello)-1, hello), 400}, // what is left begins no request
		"two lengths":                    {head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400},
		"a length that is none":          {head + "Content-Length: -1\r\n\r\n", 400},
		"no length, no chunks":           {head + "\r\n", 400},
		"an obsolete line fold":          {head + "X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n", 400},
		"a field without a colon":        {head + "nonsense\r\n\r\n", 400},
		"a space before the colon":       {head + "Mcp-Session-Id : x\r\n\r\n", 400},
		"no host":                        {"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", 400},
		"HTTP/1.0":                       {strings.Replace(sized(len(hello), hello), "HTTP/1.1", "HTTP/1.0", 1), 200},
		"64 KiB and more of fields":      {head + "X-A: " + strings.Repeat("a", 65<<10) + "\r\nContent-Length: 2\r\n\r\n{}", 431},
		"1 MiB and more of fields":       {head + "X-A: " + strings.Repeat("a", 1100<<10) + "\r\n\r\n", 431},
		"fields just below":              {head + "X-A: " + strings.Repeat("a", 60<<10) + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(hello)) + hello, 200},
		"bytes beyond ASCII in a field":  {head + "X-A: \xff\xfe\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(hello)) + hello, 200},
		"an expectation that is unknown": {head + "Expect: 200-maybe\r\nContent-Length: 2\r\n\r\n{}", 417},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, &backend{}, func(l *lab) {
				conn, err := l.memory.dial(l.t.Context())
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					_, _ = io.WriteString(conn, tt.send)
					if tt.status == 0 {
						_ = conn.Close()
					}
				}()
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				switch {
				case tt.status == 0 && err == nil && res.StatusCode < 400:
					t.Errorf("answered %d", res.StatusCode)
				case tt.status != 0 && err != nil:
					t.Error(err)
				case tt.status != 0 && res.StatusCode != tt.status:
					t.Errorf("%d, want %d", res.StatusCode, tt.status)
				}
				_ = conn.Close()
				synctest.Wait()
			})
		})
	}
}

// P33.4: a second request that comes before the first is answered waits for it.
func TestPipelining(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-06-18", "{}")
		one := func(rid string) string {
			body := `{"jsonrpc":"2.0","id":` + rid + `,"method":"tools/list"}`
			return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body)
		}
		conn, err := l.memory.dial(l.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go func() { _, _ = io.WriteString(conn, one("1")+one("2")) }()
		r := bufio.NewReader(conn)
		for _, rid := range []string{"1", "2"} {
			x := <-h.exchanges
			synctest.Wait()
			if len(h.exchanges) != 0 || x.ID().String() != rid {
				t.Errorf("request %s came first, %d more are in work", x.ID(), len(h.exchanges))
			}
			h.release <- done(rid)
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(res.Body); idOf(body) != rid {
				t.Errorf("%s", body)
			}
		}
	})
}

// P33.8: what a proxy says about a request counts only from a trusted one, and
// never decides about Host and Origin.
func TestForwardedFields(t *testing.T) {
	forged := map[string]string{
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost", "X-Forwarded-Proto": "https", "Forwarded": "for=127.0.0.1;host=localhost;proto=https", "X-Real-Ip": "127.0.0.1",
	}
	synctest.Test(t, func(t *testing.T) {
		newLab(t, &backend{}, func(l *lab) {
			for _, h := range []map[string]string{{"Host": "evil.example"}, {"Host": "localhost", "Origin": "http://evil.example"}} {
				if a := l.ask(call{body: initialize("2025-11-25", "{}"), header: with(forged, pairs(h)...)}); a.status != 403 {
					t.Errorf("%v: %d", h, a.status)
				}
			}
		}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 17080})
	})
	inLab(t, &backend{}, func(l *lab) {
		a := l.ask(call{body: initialize("2025-11-25", "{}"), header: forged})
		for name, values := range a.header {
			if strings.Contains(strings.Join(values, ","), "localhost") || strings.HasPrefix(name, "Location") {
				t.Errorf("%s: %v", name, values)
			}
		}
	})
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	var bucket string
	server := &streamable.Server{Keys: keys, Client: auth.Proxies{netip.MustParsePrefix("10.0.0.0/8")}.Client,
		Handler: &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome { bucket = x.Bucket(); return done("x") }}}
	for name, tt := range map[string]struct{ remote, forwarded, want string }{
		"a stranger who lies":         {"9.9.9.9:1", "1.2.3.4", "9.9.9.9"},
		"a trusted proxy":             {"10.0.0.7:1", "1.2.3.4", "1.2.3.4"},
		"two trusted proxies":         {"10.0.0.7:1", "6.6.6.6, 1.2.3.4, 10.0.0.8", "1.2.3.4"},
		"a trusted proxy's nonsense":  {"10.0.0.7:1", "evil", "10.0.0.7"},
		"a trusted proxy for itself":  {"10.0.0.7:1", "", "10.0.0.7"},
		"no address that can be read": {"pipe", "1.2.3.4", ""},
	} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(modernCall))
		r.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		r.Header.Set("Content-Type", "application/json")
		for k, v := range modern("tools/call", "Mcp-Name", "slow") {
			r.Header.Set(k, v)
		}
		server.ServeHTTP(httptest.NewRecorder(), r)
		if bucket != "peer:"+tt.want {
			t.Errorf("%s: %q", name, bucket)
		}
	}
}

// P33.1, R18: an event stream is never compressed, whatever the client takes.
func TestNothingIsCompressed(t *testing.T) {
	inLab(t, &backend{serve: progressThenDone}, func(l *lab) {
		a := l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow", "Accept-Encoding", "gzip, br, zstd")})
		if a.header.Get("Content-Encoding") != "" || !strings.Contains(a.body, `data: {"jsonrpc"`) {
			t.Errorf("%v %q", a.header, a.body)
		}
	})
}

// P33.3: cookies and other credentials of a browser are never asked for.
func TestNoCredentialsForBrowsers(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		l.settings(func(s *streamable.Settings) { s.AllowedOrigins = []string{"https://ok.example"} })
		for _, method := range []string{"OPTIONS", "POST", "GET"} {
			a := l.ask(call{method: method, body: list, header: map[string]string{"Origin": "https://ok.example"}})
			if a.header.Get("Access-Control-Allow-Credentials") != "" || a.header.Get("Access-Control-Allow-Origin") != "https://ok.example" || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %v", method, a.header)
			}
		}
	})
}

// W14.9, P33.10: a standalone stream of 26 hours; the session lives with it.
func TestLongGet(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		e := l.stream(call{method: "GET", header: on(id)})
		time.AfterFunc(26*time.Hour, func() { _ = b.session(0).Notify(note(1)) })
		began := time.Now()
		if got := string(e.message().Data); got != string(note(1)) || time.Since(began) != 26*time.Hour {
			t.Errorf("after %v: %s", time.Since(began), got)
		}
		e.close()
		if a := l.ask(call{body: list, header: on(id)}); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
