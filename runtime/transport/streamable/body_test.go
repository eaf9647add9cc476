package streamable_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

func padded(n int) string {
	head := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"`
	tail := `"}}`
	return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
}

// raw writes bytes on a connection of its own and reads one response.
func (l *lab) raw(head string, feed func(w io.Writer)) *http.Response {
	l.t.Helper()
	conn, err := l.memory.Dial(context.Background())
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
