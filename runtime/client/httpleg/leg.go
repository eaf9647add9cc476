package httpleg

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// DefaultMaxMessageBytes bounds one message of the server.
const DefaultMaxMessageBytes = 16 << 20

// Config describes a Leg. URL and HTTP are required.
type Config struct {
	// URL is the MCP endpoint.
	URL *url.URL
	// HTTP says who makes the requests: its Transport. The rest of it is not
	// used.
	HTTP *http.Client
	// Host is the Host header; empty means the URL's. AltHost, if set, is
	// tried once after 421 or 403 and kept if it is taken (C20, R19).
	Host, AltHost string
	// Header is added to every request, e.g. a credential of our own.
	Header http.Header
	// MaxMessageBytes bounds one message of the server, decoded.
	MaxMessageBytes int
	// Listen keeps a GET open from notifications/initialized on (P6). Without
	// it, Leg.Listen begins that at any time.
	Listen bool
	// Auth adds credentials and answers challenges; nil: Header is all.
	Auth  Auth
	Hooks Hooks
}

// Hooks observe a Leg; nil members are skipped. They must not block.
type Hooks struct {
	// Listening tells what became of an attempt to open the standalone GET:
	// "open", "refused" (the server has none, no more attempts), "lost".
	Listening func(outcome string)
	// Resumed counts resumptions of a broken response stream.
	Resumed func()
	// HostRefused tells that the server refused this Host header.
	HostRefused func(host string)
	// Gone tells that a stream found out that the server has forgotten the
	// session; a message that finds out fails with peer.SessionGone.
	Gone func()
}

// Leg is one client's connection to one server; see New. All methods may be
// called concurrently.
type Leg struct {
	cfg    Config
	trip   http.RoundTripper
	recv   peer.Receiver
	ctx    context.Context // the leg's life
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once // listening began
	looks  atomic.Int64

	mu       sync.Mutex
	url      *url.URL // after redirects
	host     string
	altTried bool
	session  string
	revision string
	gone     bool
	closed   bool
}

var (
	_ peer.Link       = (*Leg)(nil)
	_ peer.Negotiator = (*Leg)(nil)
)

// New makes a Leg.
func New(cfg Config) *Leg {
	if cfg.MaxMessageBytes <= 0 {
		cfg.MaxMessageBytes = DefaultMaxMessageBytes
	}
	l := &Leg{cfg: cfg, url: cfg.URL, host: cfg.Host}
	// The round tripper and not the client: no cookies (R19), and R17 is ours,
	// for the standard policy on redirects turns a POST into a GET.
	if l.trip = cfg.HTTP.Transport; l.trip == nil {
		l.trip = http.DefaultTransport
	}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Start implements peer.Link.
func (l *Leg) Start(r peer.Receiver) { l.recv = r }

// Inline implements peer.Link.
func (l *Leg) Inline() bool { return true }

// Negotiated implements peer.Negotiator.
func (l *Leg) Negotiated(revision string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision = revision
}

// SessionID is the server's session id, empty when it has none.
func (l *Leg) SessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// Send implements peer.Link.
func (l *Leg) Send(ctx context.Context, out *peer.Outgoing) error {
	if l.isGone() {
		return &peer.Failure{Reason: peer.SessionGone, NotDelivered: true}
	}
	if out.Kind == jsonrpc.KindRequest {
		return l.exchange(ctx, out)
	}
	if err := l.say(ctx, out); err != nil {
		return err
	}
	if out.Method == mcp.NotifyInitialized && l.cfg.Listen {
		l.Listen()
	}
	return nil
}

// Listen keeps a GET open from now on, once.
func (l *Leg) Listen() {
	l.once.Do(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.closed {
			l.wg.Go(l.listen)
		}
	})
}

// Close implements peer.Link: streams end at once, and a session is deleted in
// the background (W10.8).
func (l *Leg) Close(cause error) {
	if cause == nil {
		cause = errors.New("closed")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.cancel(cause)
	if l.session != "" && !l.gone {
		l.wg.Go(l.delete) // before anybody else can Wait
	}
}

// Wait returns when nothing of the leg runs any more, the DELETE included.
// Call it after Close.
func (l *Leg) Wait() { l.wg.Wait() }

func (l *Leg) isGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

func (l *Leg) setGone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
}
