package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/client/sseleg"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
)

// Target is where a server is and how it is reached.
type Target interface {
	// Dial opens a new link. It is called again to reconnect, and must not
	// block longer than ctx; the link lives on after ctx.
	Dial(ctx context.Context, w Wiring) (peer.Link, error)
	// Binding is what travels on the link.
	Binding() mcp.Binding
}

// Wiring is what a Client wants from the links of a Target. Funcs are never
// nil and may be called on any goroutine.
type Wiring struct {
	// MaxMessageBytes bounds one message of the server; 0: the link's default.
	MaxMessageBytes int
	// Listening tells what became of the stream for messages that belong to no
	// request: "open", "lost", "refused".
	Listening func(outcome string)
	// Resumed tells that a broken response stream was taken up again.
	Resumed func()
	// Gone tells that the server has forgotten the session.
	Gone func()
}

// ErrOnce: the target cannot be dialled a second time.
var ErrOnce = errors.New("client: this connection cannot be opened again")

// waiter is a link whose Close leaves something running for a moment.
type waiter interface{ Wait() }

// listener is a link that opens the stream for the server's own messages when
// it is told to.
type listener interface{ Listen() }

// older is a Target that knows another way in, for servers that refuse the
// first (W13.7).
//
// It is a second interface, so that most Targets need not know of it.
type older interface {
	DialOlder(ctx context.Context, w Wiring) (peer.Link, error)
	// OlderBinding is what travels there; false: do not try.
	OlderBinding() (mcp.Binding, bool)
}

// HTTP is a server at an address: streamable HTTP of any revision, or the
// HTTP+SSE transport of 2024-11-05 when it turns out to be one.
type HTTP struct {
	// URL is the MCP endpoint. Required.
	URL string
	// Client makes the requests; only its Transport is used. Nil means
	// http.DefaultTransport.
	Client *http.Client
	// Header is added to every request.
	Header http.Header
	// Auth adds credentials and answers challenges; nil: none.
	Auth httpleg.Auth
	// NoSSE leaves the fallback to HTTP+SSE out.
	NoSSE bool
}

// Binding implements Target.
func (HTTP) Binding() mcp.Binding { return mcp.Streamable }

// Dial implements Target. Nothing is sent yet.
func (h HTTP) Dial(_ context.Context, w Wiring) (peer.Link, error) {
	target, err := h.target()
	if err != nil {
		return nil, err
	}
	return httpleg.New(httpleg.Config{
		URL:             target,
		HTTP:            h.client(),
		Header:          h.Header,
		Auth:            h.Auth,
		MaxMessageBytes: w.MaxMessageBytes,
		Hooks:           httpleg.Hooks{Listening: w.Listening, Resumed: w.Resumed, Gone: w.Gone},
	}), nil
}

// DialOlder is HTTP+SSE, for servers that know no POST at the address (W13.7).
func (h HTTP) DialOlder(_ context.Context, w Wiring) (peer.Link, error) {
	target, err := h.target()
	if err != nil {
		return nil, err
	}
	return sseleg.New(sseleg.Config{
		URL:             target,
		HTTP:            h.client(),
		Header:          h.Header,
		Auth:            h.Auth,
		MaxMessageBytes: w.MaxMessageBytes,
	}), nil
}

// OlderBinding implements older.
func (h HTTP) OlderBinding() (mcp.Binding, bool) { return mcp.HTTPSSE, !h.NoSSE }

// target is the address, checked.
func (h HTTP) target() (*url.URL, error) {
	target, err := url.Parse(h.URL)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return nil, fmt.Errorf("client: %q is no HTTP address", h.URL)
	}
	return target, nil
}

func (h HTTP) client() *http.Client {
	if h.Client == nil {
		// No timeout of its own: streams last, and each call has its context.
		return &http.Client{}
	}
	return h.Client
}

// Pipes is a server at the other end of two pipes, one message a line. It can
// be used for one connection. Use a pointer.
type Pipes struct {
	// In is the server's input, Out its output; both are closed with the
	// connection.
	In  io.WriteCloser
	Out io.ReadCloser

	used atomic.Bool
}

// Binding implements Target.
func (*Pipes) Binding() mcp.Binding { return mcp.Stdio }

// Dial implements Target.
func (p *Pipes) Dial(_ context.Context, w Wiring) (peer.Link, error) {
	if p.used.Swap(true) {
		return nil, ErrOnce
	}
	return peer.NewStdio(ndjson.Config{In: p.In, Out: p.Out, MaxMessageBytes: w.MaxMessageBytes}), nil
}
