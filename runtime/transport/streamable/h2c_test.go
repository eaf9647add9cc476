package streamable_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// inClearHTTP2 is inLab over HTTP/2 without TLS, on one connection, in virtual
// time. The client gives each stream a window of 64 KiB.
func inClearHTTP2(t *testing.T, b *backend, f func(l *lab, conns func() int)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		opened := 0
		newLab(t, b, func(l *lab) {
			f(l, func() int { mu.Lock(); defer mu.Unlock(); return opened })
		}, nil, func(web *http.Server, transport *http.Transport) {
			clear := new(http.Protocols)
			clear.SetUnencryptedHTTP2(true)
			web.Protocols, transport.Protocols = clear, clear
			web.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10_000}
			transport.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 1 << 30}
			web.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					mu.Lock()
					opened++
					mu.Unlock()
				}
			}
		})
	})
}

// P33.2: hundreds of listening clients behind a proxy that multiplexes do not
// starve the calls on the same connection.
func TestManyListensOnOneHTTP2Connection(t *testing.T) {
	b := &backend{}
	inClearHTTP2(t, b, func(l *lab, conns func() int) {
		s := &listener{exchanges: make(chan *dispatch.Exchange, 1000), causes: make(chan error, 1000)}
		b.serve = s.serve
		var open []*events
		for i := range 600 {
			open = append(open, l.stream(listen(fmt.Sprint(i))))
		}
		for range 10 {
			if a := l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}); a.status != 200 || a.code() != "" {
				t.Errorf("a call: %d %s", a.status, a.body)
			}
		}
		if n := conns(); n != 1 {
			t.Errorf("%d connections", n)
		}
		for _, e := range open {
			e.close() // RST_STREAM
		}
		for range open {
			if cause := <-s.causes; cause != dispatch.ErrDisconnected {
				t.Error(cause)
			}
		}
	})
}

// P33.2, P18: a client that leaves the window of one HTTP/2 stream closed costs
// itself that stream: others on the same connection go on.
func TestHTTP2SlowReader(t *testing.T) {
	b := &backend{}
	inClearHTTP2(t, b, func(l *lab, conns func() int) {
		l.settings(func(s *streamable.Settings) { s.WriteTimeout = 10 * time.Second })
		slow, quick := l.connect("2025-11-25", "{}"), l.connect("2025-11-25", "{}")
		stalled := l.stream(call{method: "GET", header: on(slow)})
		healthy := l.stream(call{method: "GET", header: on(quick)})
		healthy.next()
		big := make([]byte, 16<<10)
		for i := range big {
			big[i] = 'a'
		}
		began := time.Now()
		for round := range 40 {
			_ = b.session(0).Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"` + string(big) + `"}}`))
			_ = b.session(1).Notify(note(round))
			if got := string(healthy.message().Data); got != string(note(round)) {
				t.Fatal(got)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the healthy stream waited for %v", took)
		}
		time.Sleep(time.Minute)
		if _, err := io.ReadAll(stalled.res.Body); err == nil {
			t.Error("the stalled stream ended well")
		}
		if a := l.ask(call{body: list, header: on(quick)}); a.status != 200 {
			t.Errorf("%d", a.status)
		}
		if n := conns(); n != 1 {
			t.Errorf("%d connections", n)
		}
		healthy.close()
		stalled.close()
	})
}

// P33.2, W14.10: the client's reset is a disconnect over HTTP/2 too.
func TestHTTP2ResetCancels(t *testing.T) {
	b := &backend{}
	inClearHTTP2(t, b, func(l *lab, _ func() int) {
		h := hold()
		b.serve = h.handle
		ctx, reset := context.WithCancel(l.t.Context())
		go func() {
			_, _ = l.try(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow"), ctx: ctx})
		}()
		<-h.exchanges
		reset()
		if cause := <-h.ended; cause != dispatch.ErrDisconnected {
			t.Error(cause)
		}
	})
}

// frame makes an HTTP/2 frame.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	n := len(payload)
	out := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)}
	return append(out, payload...)
}

// literal is a header field that no table knows (RFC 7541 section 6.2.2).
func literal(name, value string) []byte {
	out := append([]byte{0, byte(len(name))}, name...)
	return append(append(out, byte(len(value))), value...)
}

// P33.2, W17.4: over HTTP/2 it is :authority that names the host, whatever a
// Host field says beside it.
func TestAuthorityIsTheHost(t *testing.T) {
	for name, tt := range map[string]struct {
		authority, host string
		refused         bool
	}{
		"both are this machine":        {"localhost", "localhost", false},
		"another authority":            {"evil.example", "localhost", true},
		"no Host field":                {"evil.example", "", true},
		"the Host field alone is evil": {"", "evil.example", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				newLab(t, &backend{}, func(l *lab) {
					conn, err := l.memory.Dial(l.t.Context())
					if err != nil {
						t.Fatal(err)
					}
					go func() { _, _ = io.Copy(io.Discard, conn) }()
					fields := append(append(literal(":method", "GET"), literal(":scheme", "http")...), literal(":path", "/mcp")...)
					if tt.authority != "" {
						fields = append(fields, literal(":authority", tt.authority)...)
					}
					if tt.host != "" {
						fields = append(fields, literal("host", tt.host)...)
					}
					const settings, headers, endStream, endHeaders = 4, 1, 1, 4
					out := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0, nil)...)
					if _, err := conn.Write(append(out, frame(headers, endStream|endHeaders, 1, fields)...)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					l.mu.Lock()
					rejected := append([]hook.Reason(nil), l.rejected...)
					l.mu.Unlock()
					if len(rejected) != 1 || (rejected[0] == hook.RejectHost) != tt.refused {
						t.Errorf("refused for %v", rejected)
					}
					_ = conn.Close()
				}, net.IPv4(127, 0, 0, 1), func(web *http.Server, _ *http.Transport) {
					clear := new(http.Protocols)
					clear.SetUnencryptedHTTP2(true)
					web.Protocols = clear
				})
			})
		})
	}
}
