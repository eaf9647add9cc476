//go:build peers

package interop

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// cutter stands between a client and a server and closes connections when it
// is told to.
type cutter struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// through returns the address of a cutter in front of a server's.
func through(t *testing.T, server string) (string, *cutter) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: l, to: u.Host, conns: map[net.Conn]struct{}{}}
	go c.accept()
	t.Cleanup(func() {
		_ = l.Close()
		c.cut()
	})
	u.Host = l.Addr().String()
	return u.String(), c
}

func (c *cutter) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		c.mu.Lock()
		c.conns[near], c.conns[far] = struct{}{}, struct{}{}
		c.mu.Unlock()
		go c.copy(near, far)
		go c.copy(far, near)
	}
}

func (c *cutter) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, to)
	delete(c.conns, from)
}

// cut closes every connection there is, and returns how many.
func (c *cutter) cut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		_ = conn.Close()
	}
	return len(c.conns) / 2
}

// watch looks at what passes a server: open GETs, and session ids that change.
type watch struct {
	http.Handler
	gets    atomic.Int64
	opened  atomic.Int64
	changed atomic.Int64
}

func (s *watch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.gets.Add(1)
		s.opened.Add(1)
		defer s.gets.Add(-1)
	}
	s.Handler.ServeHTTP(w, r)
	const name = "Mcp-Session-Id"
	if asked, said := r.Header.Get(name), w.Header().Get(name); asked != "" && said != "" && said != asked {
		s.changed.Add(1)
	}
}
