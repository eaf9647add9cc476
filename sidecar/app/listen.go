package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

const (
	// maxHeaderBytes is 64 KiB (P33.6); net/http allows 4 KiB more than told.
	maxHeaderBytes = 64<<10 - 4<<10
	// maxConnections bounds the public port; an idle one costs about 26 KB.
	// Further ones wait in the kernel's queue.
	maxConnections = 4096
	// maxAdmin bounds each of the admin and metrics ports.
	maxAdmin = 256
)

// port is one listener with its server.
type port struct {
	name     string
	listener net.Listener
	server   *http.Server
	open     atomic.Int64
}

// listen opens a port; nothing is accepted before serve.
func listen(name, address string, most int, s *http.Server, log *slog.Logger) (*port, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s port: %w", name, err)
	}
	return serving(name, l, most, s, log), nil
}

// serving makes the port of a listener.
func serving(name string, l net.Listener, most int, s *http.Server, log *slog.Logger) *port {
	p := &port{name: name, listener: deadlineListener{netutil.LimitListener(l, most)}, server: s}
	s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	s.ConnState = p.count
	return p
}

func (p *port) count(_ net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		p.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		p.open.Add(-1)
	}
}

func (p *port) connections() int { return int(p.open.Load()) }

// serve accepts until the server is closed; that is no error.
func (p *port) serve() error {
	if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("%s port: %w", p.name, err)
	}
	return nil
}

// close stops accepting, waits for what runs at most for the given time, and
// closes the rest.
func (p *port) close(most time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close()
	}
	_ = p.listener.Close() // if it never served
}

// publicServer has every option set on purpose.
func publicServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		// No ReadTimeout: the endpoint gives each body a deadline of its own.
		// No WriteTimeout: streams live for days; each write has a deadline.
		// Longer than clients and balancers keep idle connections, so that
		// they, not we, close them: closing races with the next request.
		IdleTimeout:    3 * time.Minute,
		MaxHeaderBytes: maxHeaderBytes,
		// HTTP/2 in clear text is off: behind a proxy that multiplexes, its
		// stream limit would let a few hundred open streams starve every call
		// (P33.2).
		Protocols: http1(),
	}
}

// plainServer is for ports whose answers are short.
func plainServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    4 << 10,
		Protocols:         http1(),
	}
}

func http1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}
