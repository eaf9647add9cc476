package edgetest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

// raw writes bytes on a connection of its own and reads one response.
func (c *client) raw(head string, feed func(w io.Writer)) *http.Response {
	c.t.Helper()
	conn, err := c.dial(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		if _, err := io.WriteString(conn, head); err == nil && feed != nil {
			feed(conn)
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// RawBodies: requests as sockets bring them, none of which net/http's client
// sends. P33.4, P33.6, W15.12.
func RawBodies(t *testing.T, target Target) {
	const head = "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\n"
	hello := initialize("2025-11-25")
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
			target.open(t, &workload{}, Settings{}, func(c *client) {
				conn, err := c.dial(c.t.Context())
				if err != nil {
					c.t.Fatal(err)
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
					c.t.Errorf("answered %d", res.StatusCode)
				case tt.status != 0 && err != nil:
					c.t.Error(err)
				case tt.status != 0 && res.StatusCode != tt.status:
					c.t.Errorf("%d, want %d", res.StatusCode, tt.status)
				}
				_ = conn.Close()
				synctest.Wait()
			})
		})
	}
}

// Pipelining: a second request that comes before the first is answered waits
// for it. P33.4.
func Pipelining(t *testing.T, target Target) {
	var began, release chan string
	w := &workload{serve: func(x *dispatch.Exchange) dispatch.Outcome {
		began <- string(x.Msg.Params)
		return dispatch.Result([]byte(`{"prompts":[],"n":` + <-release + `}`))
	}}
	target.open(t, w, Settings{}, func(c *client) {
		began, release = make(chan string, 2), make(chan string)
		id := c.connect("2025-06-18")
		one := func(n string) string {
			body := `{"jsonrpc":"2.0","id":` + n + `,"method":"` + asked + `","params":{"n":` + n + `}}`
			return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body)
		}
		conn, err := c.dial(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		defer conn.Close()
		go func() { _, _ = io.WriteString(conn, one("1")+one("2")) }()
		r := bufio.NewReader(conn)
		for _, n := range []string{"1", "2"} {
			got := <-began
			synctest.Wait()
			if len(began) != 0 || got != `{"n":`+n+`}` {
				c.t.Errorf("request %s came first, %d more are in work", got, len(began))
			}
			release <- n
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				c.t.Fatal(err)
			}
			if body, _ := io.ReadAll(res.Body); string(body) != `{"jsonrpc":"2.0","id":`+n+`,"result":{"prompts":[],"n":`+n+`}}` {
				c.t.Errorf("%s", body)
			}
		}
	})
}

func padded(n int) string {
	head := `{"jsonrpc":"2.0","id":1,"method":"` + asked + `","params":{"x":"`
	tail := `"}}`
	return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
}

// BodySizes: a body is bounded, whatever its length says. W16.1.
func BodySizes(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{MaxBody: 100_000}, func(c *client) {
		id := c.connect("2025-11-25")
		before := w.served()
		for size, want := range map[int]int{99_999: 200, 100_000: 200, 100_001: 413, 1_000_000: 413} {
			a := c.ask(call{body: padded(size), header: on(id)})
			if a.status != want {
				t.Errorf("%d bytes: %d", size, a.status)
			}
			req, _ := http.NewRequest("POST", "http://mcp.example/mcp", struct{ io.Reader }{strings.NewReader(padded(size))})
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Mcp-Session-Id", id)
			res, err := c.http.Do(req)
			if err != nil {
				if want == 413 {
					continue // closed while the rest was being sent
				}
				t.Fatal(err)
			}
			if res.StatusCode != want {
				t.Errorf("%d bytes in chunks: %d", size, res.StatusCode)
			}
			_ = res.Body.Close()
		}
		if got := w.served() - before; got != 4 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// SlowBodies: one byte per second does not hold a request for ever, and a slow
// but finished one is served without a deadline left behind; one that is cut
// reaches nobody. P33.4.
func SlowBodies(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		head := func(n int) string {
			return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n", id, n)
		}
		drip := func(text string) func(io.Writer) {
			return func(w io.Writer) {
				for i := range len(text) {
					time.Sleep(time.Second)
					if _, err := io.WriteString(w, text[i:i+1]); err != nil {
						return
					}
				}
			}
		}
		began := time.Now()
		res := c.raw(head(1000), drip(strings.Repeat(" ", 1000)))
		if took := time.Since(began); res.StatusCode != 408 || took != 30*time.Second {
			t.Errorf("%d after %v", res.StatusCode, took)
		}
		res = c.raw(head(len(list)), func(w io.Writer) {
			time.Sleep(29 * time.Second)
			_, _ = io.WriteString(w, list)
		})
		if res.StatusCode != 200 {
			t.Errorf("a slow but finished body: %d", res.StatusCode)
		}
		conn, err := c.dial(c.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, head(1000)+"{")
		_ = conn.Close()
		synctest.Wait()
		if got := w.served(); got != 1 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// Expectations: who is refused is not asked for the body. P33.4.
func Expectations(t *testing.T, target Target) {
	target.open(t, &workload{}, Settings{}, func(c *client) {
		head := func(media string) string {
			return "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: " + media + "\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"
		}
		if res := c.raw(head("text/plain"), nil); res.StatusCode != 415 || !res.Close {
			t.Errorf("a refused one: %d, close %v", res.StatusCode, res.Close)
		}
		if res := c.raw(head("application/json"), nil); res.StatusCode != 100 {
			t.Errorf("the other: %d", res.StatusCode)
		}
	})
}

// BrokenBodies are no message: the error has the id where one can be told, else
// none, or null where the revision wants one. W1.2, W1.8, W2, B16.1, P8, P34.
func BrokenBodies(t *testing.T, target Target) {
	w := &workload{}
	target.open(t, w, Settings{}, func(c *client) {
		sessions := map[string]string{}
		for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
			sessions[revision] = c.connect(revision)
		}
		before := w.served()
		for name, tt := range map[string]struct{ body, code, id string }{
			"not JSON":               {`{"jsonrpc":"2.0","id":1,`, "-32700", "none"},
			"empty":                  {``, "-32700", "none"},
			"a byte order mark":      {"\ufeff" + list, "-32700", "none"},
			"not UTF-8":              {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "-32700", "none"},
			"two messages":           {list + list, "-32700", "none"},
			"a number":               {`7`, "-32600", "none"},
			"an id of null":          {`{"jsonrpc":"2.0","id":null,"method":"a"}`, "-32600", "none"},
			"a fractional id":        {`{"jsonrpc":"2.0","id":1.5,"method":"a"}`, "-32600", "none"},
			"params that are a list": {`{"jsonrpc":"2.0","id":9,"method":"` + asked + `","params":[]}`, "-32600", "9"}, // R7
			"no version":             {`{"id":9,"method":"` + asked + `"}`, "-32600", "9"},
			"a duplicate name":       {`{"jsonrpc":"2.0","id":9,"method":"a","method":"b"}`, "-32600", "9"},
			"too deep":               {`{"jsonrpc":"2.0","id":9,"method":"a","params":{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, "-32600", "9"},
		} {
			for revision, id := range sessions {
				a := c.ask(call{body: tt.body, header: on(id)})
				want := tt.id
				if want == "none" && revision != "2025-11-25" {
					want = "null"
				}
				if a.status != 400 || a.code() != tt.code || a.id() != want {
					t.Errorf("%s in %s: %d %s", name, revision, a.status, a.body)
				}
			}
			a := c.ask(call{body: tt.body, header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}})
			if a.status != 400 || a.code() != tt.code || a.id() != tt.id {
				t.Errorf("%s in 2026-07-28: %d %s", name, a.status, a.body)
			}
		}
		if w.served() != before {
			t.Error("a call reached the server")
		}
	})
}
