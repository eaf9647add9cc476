package streamable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

func padded(n int) string {
	head := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"`
	tail := `"}}`
	return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
}

// W16.1: a body is bounded, whatever its length says.
func TestBodyLimit(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.settings(func(s *streamable.Settings) { s.MaxBodyBytes = 100_000 })
		id := l.connect("2025-11-25", "{}")
		before := b.served()
		for size, want := range map[int]int{99_999: 200, 100_000: 200, 100_001: 413, 1_000_000: 413} {
			a := l.ask(call{body: padded(size), header: on(id)})
			if a.status != want {
				t.Errorf("%d bytes: %d", size, a.status)
			}
			req, _ := http.NewRequest("POST", "http://mcp.example/mcp", struct{ io.Reader }{strings.NewReader(padded(size))})
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Mcp-Session-Id", id)
			res, err := l.client.Do(req)
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
		if got := b.served() - before; got != 4 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// raw writes bytes on a connection of its own and reads one response.
func (l *lab) raw(head string, feed func(w io.Writer)) *http.Response {
	l.t.Helper()
	conn, err := l.memory.dial(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	go func() {
		if _, err := io.WriteString(conn, head); err == nil && feed != nil {
			feed(conn)
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return res
}

// P33.4: one byte per second does not hold a request for ever, and a
// slow but finished one is served without a deadline left behind.
func TestSlowBody(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		head := func(n int) string {
			return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", n)
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
		res := l.raw(head(1000), drip(strings.Repeat(" ", 1000)))
		if took := time.Since(began); res.StatusCode != 408 || took != 30*time.Second {
			t.Errorf("%d after %v", res.StatusCode, took)
		}
		body := initialize("2025-11-25", "{}")
		res = l.raw(head(len(body)), func(w io.Writer) {
			time.Sleep(29 * time.Second)
			_, _ = io.WriteString(w, body)
		})
		if res.StatusCode != 200 {
			t.Errorf("a slow but finished body: %d", res.StatusCode)
		}
		// P33.4: cut in mid-body.
		conn, _ := l.memory.dial(l.t.Context())
		_, _ = io.WriteString(conn, head(1000)+"{")
		_ = conn.Close()
		synctest.Wait()
		if got := b.served(); got != 1 {
			t.Errorf("%d calls reached the server", got)
		}
	})
}

// P18: a body waits for room in the budget before it is read, and says so when
// there is none.
func TestBodyAdmission(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		budget := &stream.Budget{Max: 10_000}
		l.server.Budget = budget
		id := l.connect("2025-11-25", "{}")
		if err := budget.Acquire(l.t.Context(), 8_000); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			budget.Release(8_000)
		}()
		if a := l.ask(call{body: padded(5_000), header: on(id)}); a.status != 200 || time.Since(began) != 5*time.Second {
			t.Errorf("%d after %v", a.status, time.Since(began))
		}
		if a := l.ask(call{body: padded(50_000), header: on(id)}); a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("more than the budget: %d", a.status)
		}
		if err := budget.Acquire(l.t.Context(), 8_000); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		if a := l.ask(call{body: padded(5_000), header: on(id)}); a.status != 503 || time.Since(began) != 30*time.Second {
			t.Errorf("no room: %d after %v", a.status, time.Since(began))
		}
		budget.Release(8_000)
		if used := budget.Used(); used != 0 {
			t.Errorf("%d bytes are still held", used)
		}
	})
}

// W1.2, W1.8, W2, P8, P34: bodies that are no message.
func TestBrokenBodies(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		sessions := map[string]string{}
		for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
			sessions[revision] = l.connect(revision, "{}")
		}
		before := b.served()
		tests := map[string]struct {
			body, code, id string
		}{
			"not JSON":               {`{"jsonrpc":"2.0","id":1,`, "-32700", "none"},
			"empty":                  {``, "-32700", "none"},
			"a byte order mark":      {"\ufeff" + list, "-32700", "none"},
			"not UTF-8":              {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "-32700", "none"},
			"two messages":           {list + list, "-32700", "none"},
			"a number":               {`7`, "-32600", "none"},
			"an id of null":          {`{"jsonrpc":"2.0","id":null,"method":"a"}`, "-32600", "none"},
			"a fractional id":        {`{"jsonrpc":"2.0","id":1.5,"method":"a"}`, "-32600", "none"},
			"params that are a list": {`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[]}`, "-32600", "9"}, // R7
			"no version":             {`{"id":9,"method":"tools/list"}`, "-32600", "9"},
			"a duplicate name":       {`{"jsonrpc":"2.0","id":9,"method":"a","method":"b"}`, "-32600", "9"},
			"too deep":               {`{"jsonrpc":"2.0","id":9,"method":"a","params":{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, "-32600", "9"},
		}
		for name, tt := range tests {
			for revision, id := range sessions {
				a := l.ask(call{body: tt.body, header: on(id)})
				want := tt.id
				if want == "none" && revision != "2025-11-25" {
					want = "null"
				}
				if a.status != 400 || a.code() != tt.code || a.id() != want {
					t.Errorf("%s in %s: %d %s", name, revision, a.status, a.body)
				}
			}
			a := l.ask(call{body: tt.body, header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}})
			if a.status != 400 || a.code() != tt.code || a.id() != tt.id {
				t.Errorf("%s in 2026-07-28: %d %s", name, a.status, a.body)
			}
		}
		if b.served() != before {
			t.Error("a call reached the server")
		}
	})
}
