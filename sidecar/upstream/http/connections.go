package http

import (
	"context"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

const (
	// idleTime is how long an unused connection is kept: below the 5 s after
	// which common servers close theirs.
	idleTime = 3 * time.Second
	// meetTime is how soon after a request the end of its connection counts as
	// one that it met, and not as an end of what had begun on it.
	meetTime = time.Second
	// confirmTime bounds the look whether the workload is still there.
	confirmTime = 2 * time.Second
)

// closedIdle is net/http's error for a connection that was found closed before
// anything of the request was written to it. It has no name.
const closedIdle = "http: server closed idle connection"

// errMet: a request met the end of the connection that it was sent on.
var errMet = errors.New("the workload closed the connection as the request was sent")

// connections gives requests the connections they travel on. A workload that
// closes those that are kept for later loses what meets the close, and nobody
// can know whether it arrived (B0.5): so what may be repeated is sent again by
// net/http, and from the first such close on nothing is kept any more, as long
// as the workload lives.
type connections struct {
	kept, fresh *nethttp.Transport
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	told        func() // of a workload that closes connections; may be nil

	closes atomic.Bool
	mu     sync.Mutex
	asking bool
	over   bool
	wg     sync.WaitGroup
}

func newConnections(cfg *Config) *connections {
	k := &connections{dial: cfg.Dial, told: cfg.Hooks.Closes}
	transport := func(dial func(ctx context.Context, network, address string) (net.Conn, error)) *nethttp.Transport {
		return &nethttp.Transport{
			DialContext:         dial,
			Proxy:               nil, // never: it is loopback
			DisableCompression:  true,
			MaxConnsPerHost:     cfg.MaxConnections,
			MaxIdleConnsPerHost: 128,
			IdleConnTimeout:     idleTime,
			WriteBufferSize:     16 << 10,
			ReadBufferSize:      16 << 10,
		}
	}
	k.kept, k.fresh = transport(k.open), transport(k.connect)
	k.fresh.DisableKeepAlives = true
	return k
}

// RoundTrip implements http.RoundTripper.
func (k *connections) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	if k.closes.Load() {
		return k.fresh.RoundTrip(r)
	}
	resp, err := k.kept.RoundTrip(r)
	if err == nil || err.Error() != closedIdle || r.GetBody == nil || r.Context().Err() != nil {
		return resp, err
	}
	again := r.WithContext(r.Context())
	if again.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	return k.fresh.RoundTrip(again)
}

// connect dials. Where nobody listens the workload has ended, and the next one
// may be another.
func (k *connections) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := k.dial(ctx, network, address)
	if err != nil && ctx.Err() == nil {
		k.closes.Store(false)
	}
	return c, err
}

// open makes a connection that may be kept.
func (k *connections) open(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := k.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &watched{Conn: c, k: k}, nil
}

// closed notes that the workload has closed a connection. If it is still there,
// that is its habit; an end closes connections too.
func (k *connections) closed() {
	if k.closes.Swap(true) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asking || k.over {
		return
	}
	k.asking = true
	k.wg.Go(k.confirm)
}

func (k *connections) confirm() {
	ctx, stop := context.WithTimeout(context.Background(), confirmTime)
	defer stop()
	c, err := k.connect(ctx, "tcp", "")
	k.mu.Lock()
	k.asking = false
	k.mu.Unlock()
	if err != nil {
		return
	}
	_ = c.Close()
	k.kept.CloseIdleConnections()
	if k.told != nil {
		k.told()
	}
}

// end waits for what runs; nothing may be sent any more.
func (k *connections) end() {
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	k.wg.Wait()
	k.kept.CloseIdleConnections()
	k.fresh.CloseIdleConnections()
}

// watched is a connection that may be kept. It tells a request that meets its
// end apart from one that was answered or never sent.
type watched struct {
	net.Conn
	k *connections

	mu       sync.Mutex
	answered bool      // something has been read
	asked    time.Time // of a write that nothing has been read after; zero: none
	over     bool      // the workload has closed it
}

// Write implements net.Conn. Once the end is known nothing is sent, so that
// net/http knows that nothing was.
func (c *watched) Write(b []byte) (int, error) {
	c.mu.Lock()
	over, answered := c.over, c.answered
	c.asked = time.Now()
	c.mu.Unlock()
	if over {
		return 0, io.ErrClosedPipe
	}
	n, err := c.Conn.Write(b)
	if err != nil && answered && closedByPeer(err) {
		return n, &met{err}
	}
	return n, err
}

// Read implements net.Conn.
func (c *watched) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.answered, c.asked = true, time.Time{}
	}
	if n > 0 || err == nil || !closedByPeer(err) {
		return n, err
	}
	c.over = true
	if !c.answered {
		return n, err // it never was of use
	}
	c.k.closed()
	if !c.asked.IsZero() && time.Since(c.asked) < meetTime {
		return n, &met{err}
	}
	return n, err
}

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// met is the end of a connection that a request met.
type met struct{ err error }

func (m *met) Error() string   { return errMet.Error() + ": " + m.err.Error() }
func (m *met) Unwrap() []error { return []error{errMet, m.err} }

// cut words the failure of a request that met the end of its connection.
func cut(err error) error {
	if err == nil {
		return nil
	}
	if f := new(peer.Failure); errors.As(err, &f) && f.Reason == peer.Ended && errors.Is(err, errMet) {
		return &peer.Failure{Reason: peer.Cut, Err: f.Err}
	}
	return err
}
