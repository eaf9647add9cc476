//go:build peers

package interop

import (
	"io"
	"net"
	"net/url"
	"sync"
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
	go c.accept(l)
	t.Cleanup(func() {
		c.mu.Lock()
		_ = c.listener.Close()
		c.mu.Unlock()
		c.cut()
	})
	u.Host = l.Addr().String()
	return u.String(), c
}

// leave refuses connections, and closes those there are.
func (c *cutter) leave(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	err := c.listener.Close()
	c.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	c.cut()
}

// comeBack ends leave.
func (c *cutter) comeBack(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := net.Listen("tcp", c.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.listener = l
	go c.accept(l)
}

func (c *cutter) accept(l net.Listener) {
	for {
		near, err := l.Accept()
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
