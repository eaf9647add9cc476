package streamable_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// P18, P33.4: whoever announces large bodies and sends nothing holds up other
// large bodies, within their time, and nobody else.
func TestAnnouncedBodiesHoldNobodyUp(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		events := l.stream(call{method: http.MethodGet, header: on(id)})
		for range 100 {
			conn, err := l.memory.dial(l.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			l.t.Cleanup(func() { _ = conn.Close() })
			go func() {
				_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", 4<<20)
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
		synctest.Wait()
		began := time.Now()
		if a := l.ask(call{body: padded(1_000), header: on(id)}); a.status != 200 || time.Since(began) != 0 {
			t.Errorf("a small body: %d after %v", a.status, time.Since(began))
		}
		if err := b.session(0).Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`)); err != nil {
			t.Error(err)
		}
		events.message()
		events.close()
		if a := l.ask(call{body: padded(1 << 20), header: on(id)}); a.status != 503 && a.status != 200 || time.Since(began) > 30*time.Second {
			t.Errorf("a large body: %d after %v", a.status, time.Since(began))
		}
	})
}
