package streamable_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// announce sends the head of a body of n bytes (below 0: in chunks) and what
// comes of it so far, on a connection of its own.
func (l *lab) announce(session string, n int, bytes string) io.Writer {
	l.t.Helper()
	conn, err := l.memory.Dial(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	length := fmt.Sprintf("Content-Length: %d", n)
	if n < 0 {
		length, bytes = "Transfer-Encoding: chunked", chunk(bytes)
	}
	go func() {
		_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\n%s\r\n\r\n%s", session, length, bytes)
		_, _ = io.Copy(io.Discard, conn)
	}()
	return conn
}

func chunk(bytes string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(bytes), bytes) }

// P18, P33.4: whoever announces large bodies and sends nothing of them holds
// nobody up, however many they are.
func TestAnnouncedBodiesHoldNobodyUp(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		events := l.stream(call{method: http.MethodGet, header: on(id)})
		for range 100 {
			l.announce(id, 4<<20, "{")
			l.announce(id, -1, "{")
		}
		synctest.Wait()
		began := time.Now()
		for _, size := range []int{1_000, 60 << 10, 1 << 20, 4 << 20} {
			if a := l.ask(call{body: padded(size), header: on(id)}); a.status != 200 || time.Since(began) != 0 {
				t.Errorf("a body of %d bytes: %d after %v", size, a.status, time.Since(began))
			}
		}
		if err := b.session(0).Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`)); err != nil {
			t.Error(err)
		}
		events.message()
		events.close()
	})
}

// P18, P33.4: whoever stops in the middle of a large body holds up other large
// ones for a sixth of the time that bodies have, and nobody else.
func TestBodiesThatStopAreEndedSoon(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		for range 20 {
			l.announce(id, 4<<20, strings.Repeat(" ", 64<<10))
		}
		synctest.Wait()
		began := time.Now()
		if a := l.ask(call{body: padded(60 << 10), header: on(id)}); a.status != 200 || time.Since(began) != 0 {
			t.Errorf("a small body: %d after %v", a.status, time.Since(began))
		}
		if a := l.ask(call{body: padded(4 << 20), header: on(id)}); a.status != 200 || time.Since(began).Round(time.Second) != 5*time.Second {
			t.Errorf("a large body: %d after %v", a.status, time.Since(began))
		}
	})
}

// P33.4: a body that comes evenly has its whole time; one that stops is ended
// when it is too far behind.
func TestBodiesThatComeSlowly(t *testing.T) {
	const size = 3 << 20
	body := initialize("2025-11-25", "{}")
	body += strings.Repeat(" ", size-len(body))
	for name, test := range map[string]struct {
		stop   int // after so many of 28 pieces
		status int
		after  time.Duration
	}{
		"to its end":            {28, 200, 28 * time.Second},
		"stops at once":         {1, 408, 6 * time.Second},  // at 1 s, and the grace of 5 s
		"stops after a quarter": {7, 408, 12 * time.Second}, // at 7 s, no more than that far behind
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, &backend{}, func(l *lab) {
				began := time.Now()
				res := l.raw(fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size), func(w io.Writer) {
					for i := range test.stop {
						time.Sleep(time.Second)
						if _, err := io.WriteString(w, body[i*size/28:(i+1)*size/28]); err != nil {
							return
						}
					}
				})
				if took := time.Since(began); res.StatusCode != test.status || took.Round(time.Second) != test.after {
					t.Errorf("%d after %v", res.StatusCode, took)
				}
			})
		})
	}
}

// P18: bodies of unknown length never wait for room that they hold from one
// another.
func TestLargeBodiesInChunks(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		answers := make(chan int)
		for i := range 64 {
			body := strings.Replace(padded(2<<20), `"id":1,`, fmt.Sprintf(`"id":%d,`, i), 1)
			conn, err := l.memory.Dial(l.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			l.t.Cleanup(func() { _ = conn.Close() })
			go func() {
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Error(err)
					answers <- 0
					return
				}
				answers <- res.StatusCode
			}()
			go func() {
				_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nTransfer-Encoding: chunked\r\n\r\n%s", id, chunk(body[:1<<20]))
				_, _ = io.WriteString(conn, chunk(body[1<<20:])+"0\r\n\r\n")
			}()
		}
		for range 64 {
			if status := <-answers; status != 200 {
				t.Errorf("%d", status)
			}
		}
	})
}
