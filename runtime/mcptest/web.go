package mcptest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Web is an HTTP server of a test with a client for it.
type Web struct {
	// URL is http://host[:port], without a path.
	URL    string
	Client *http.Client
}

// Loopback serves h on a loopback port until the end of the test.
func Loopback(t testing.TB, h http.Handler) *Web {
	t.Helper()
	server := httptest.NewServer(h)
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return &Web{URL: server.URL, Client: newClient(transport)}
}

// Virtual serves h on connections that never leave the process, so that the
// virtual time of testing/synctest applies to them. To the server they come in
// on a loopback address, or on that of addr if it is not nil.
func Virtual(t testing.TB, h http.Handler, addr net.Addr) *Web {
	t.Helper()
	if addr == nil {
		addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	}
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{}), addr: addr}
	server := &http.Server{Handler: h} //nolint:gosec // a test's own client
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	transport := &http.Transport{DialContext: l.dial, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	})
	return &Web{URL: "http://localhost", Client: newClient(transport)}
}

// newClient follows no redirects, so that tests see them.
func newClient(transport *http.Transport) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// listener gives out the far ends of in-memory connections.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	addr  net.Addr
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return addressed{c, l.addr}, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type addressed struct {
	net.Conn
	addr net.Addr
}

func (a addressed) LocalAddr() net.Addr { return a.addr }

// serve serves h the one way or the other.
func serve(t testing.TB, h http.Handler, virtual bool) *Web {
	t.Helper()
	if virtual {
		return Virtual(t, h, nil)
	}
	return Loopback(t, h)
}

// shutdown ends a front before its connections are.
func shutdown(t testing.TB, front interface {
	Shutdown(ctx context.Context, cause error) error
},
) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), Patience)
	defer stop()
	if err := front.Shutdown(ctx, errTestOver); err != nil {
		t.Errorf("the front does not end: %v", err)
	}
}

var errTestOver = errors.New("the test is over")
