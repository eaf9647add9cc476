package edgetest

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Listener is a listener whose connections never leave the process, so that
// virtual time applies to them. All methods may be called concurrently.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	addr  net.Addr
}

// NewListener makes a Listener that says that its address is addr; a nil IP
// stands for one of a network.
func NewListener(addr net.IP) *Listener {
	if addr == nil {
		addr = net.IPv4(10, 1, 2, 3)
	}
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{}), addr: &net.TCPAddr{IP: addr, Port: 17080}}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return addressed{c, l.addr}, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error { l.once.Do(func() { close(l.done) }); return nil }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.addr }

// Dial opens a connection to who accepts.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, errors.New("closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type addressed struct {
	net.Conn
	addr net.Addr
}

func (a addressed) LocalAddr() net.Addr { return a.addr }
