package httpleg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipes is a listener in memory, so that a whole HTTP server runs in virtual
// time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rig is a Peer on a Leg in front of a handler.
type rig struct {
	*peer.Peer
	leg    *Leg
	server *http.Server
	pipes  *pipes

	mu    sync.Mutex
	notes []string
	drops []peer.Drop
	serve func(in peer.Incoming) ([]byte, *jsonrpc.Error)
}

func (r *rig) Request(_ context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	return r.serve(in)
}

func (r *rig) Notification(in peer.Incoming) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, in.Msg.Method)
}

func (r *rig) got() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.notes, " ")
}

func bubble(t *testing.T, cfg Config, handler http.HandlerFunc, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{pipes: newPipes(), server: &http.Server{Handler: handler}}
		go func() { _ = r.server.Serve(r.pipes) }()
		transport := &http.Transport{DialContext: r.pipes.dial}
		cfg.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:3000", Path: "/mcp"}
		cfg.HTTP = &http.Client{Transport: transport}
		r.leg = New(cfg)
		r.Peer = peer.New(r.leg, peer.Config{Handler: r, Hooks: peer.Hooks{Dropped: func(d peer.Drop) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.drops = append(r.drops, d)
		}}})
		f(t, r)
		r.Close(nil)
		r.Wait()
		r.leg.Wait()
		transport.CloseIdleConnections()
		_ = r.server.Close()
	})
}

// call makes a call and returns its result, or the error as text.
func (r *rig) call(ctx context.Context, method string) string {
	a, err := r.Call(ctx, peer.Request{Method: method})
	switch {
	case err != nil:
		if reason := peer.ReasonOf(err); reason != "" {
			return "failure " + string(reason)
		}
		return "error " + err.Error()
	case a.Err != nil:
		return fmt.Sprintf("rpc %d %s", a.Err.Code, a.Err.Data)
	}
	return string(a.Result)
}

// message reads the body's message.
func message(r *http.Request) *jsonrpc.Message {
	b, _ := io.ReadAll(bufio.NewReader(r.Body))
	m, err := jsonrpc.Parse(b, 0)
	if err != nil {
		return &jsonrpc.Message{}
	}
	return m
}

func write(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// answer with a body, the id put in for $ID.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		write(w, strings.ReplaceAll(body, "$ID", message(r).ID.String()))
	}
}
