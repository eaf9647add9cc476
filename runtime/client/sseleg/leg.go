package sseleg

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Defaults and bounds.
const (
	DefaultMaxMessageBytes = 16 << 20
	// DefaultOpenTimeout is how long the endpoint may take to be told.
	DefaultOpenTimeout = 30 * time.Second
	// patience is how long Send waits for the status of a POST. A server that
	// holds it until it has the answer is not waited for; the answer comes on
	// the stream.
	patience = 2 * time.Second
	// maxLater bounds messages that nobody waits for, on their way.
	maxLater = 32
)

// errClosed: this side closed the Leg.
var errClosed = errors.New("sseleg: closed")

// Config describes a Leg. URL and HTTP are required.
type Config struct {
	// URL is where the stream is opened.
	URL *url.URL
	// HTTP makes the requests; only its Transport is used.
	HTTP *http.Client
	// Header is added to every request.
	Header http.Header
	// Auth adds credentials and answers challenges; nil: none.
	Auth httpleg.Auth
	// MaxMessageBytes bounds one message of the server.
	MaxMessageBytes int
	// OpenTimeout bounds the time from Start to the endpoint event.
	OpenTimeout time.Duration
}

// Leg is one client's connection to one server; see New. All methods may be
// called concurrently.
type Leg struct {
	cfg    Config
	client http.Client
	recv   peer.Receiver
	ctx    context.Context // the leg's life
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	ready  chan struct{} // closed when endpoint is set
	later  chan struct{} // slots

	mu       sync.Mutex
	endpoint *url.URL
	revision string
}

var (
	_ peer.Link       = (*Leg)(nil)
	_ peer.Negotiator = (*Leg)(nil)
)

// New makes a Leg. Nothing is sent before Start.
func New(cfg Config) *Leg {
	if cfg.MaxMessageBytes <= 0 {
		cfg.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if cfg.OpenTimeout <= 0 {
		cfg.OpenTimeout = DefaultOpenTimeout
	}
	l := &Leg{cfg: cfg, ready: make(chan struct{}), later: make(chan struct{}, maxLater)}
	l.client = http.Client{
		Transport: cfg.HTTP.Transport,
		// R17 is ours: the standard policy turns a POST into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Start implements peer.Link.
func (l *Leg) Start(r peer.Receiver) {
	l.recv = r
	l.wg.Go(func() {
		err := l.listen()
		l.cancel(err)
		l.recv.Ended(context.Cause(l.ctx))
	})
}

// Inline implements peer.Link.
func (l *Leg) Inline() bool { return false }

// Negotiated implements peer.Negotiator.
func (l *Leg) Negotiated(revision string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision = revision
}

// Close implements peer.Link. The end of the stream is the end of the session
// at the server.
func (l *Leg) Close(cause error) {
	if cause == nil {
		cause = errClosed
	}
	l.cancel(cause)
}

// Wait returns when nothing of the Leg runs any more. Call it after Close.
func (l *Leg) Wait() { l.wg.Wait() }

// Send implements peer.Link.
func (l *Leg) Send(ctx context.Context, out *peer.Outgoing) error {
	if ctx.Err() != nil {
		return l.sendLater(out)
	}
	if err := l.opened(ctx); err != nil {
		return err
	}
	return l.post(ctx, out)
}

// sendLater sends what nobody waits for.
func (l *Leg) sendLater(out *peer.Outgoing) error {
	select {
	case <-l.ready:
	default:
		return &peer.Failure{Reason: peer.Ended, NotDelivered: true, Err: errors.New("the stream is not open")}
	}
	select {
	case l.later <- struct{}{}:
	default:
		return &peer.Failure{Reason: peer.Busy, NotDelivered: true}
	}
	if !l.spawn(func() {
		defer func() { <-l.later }()
		ctx, stop := context.WithTimeout(l.ctx, l.cfg.OpenTimeout)
		defer stop()
		_, _ = l.deliver(ctx, out)
	}) {
		<-l.later
		return l.ended()
	}
	return nil
}

// spawn runs f unless the Leg has ended, so that Wait sees all of them.
func (l *Leg) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return false
	}
	l.wg.Go(f)
	return true
}

// opened waits until it is known where to POST.
func (l *Leg) opened(ctx context.Context) error {
	select {
	case <-l.ready:
	case <-l.ctx.Done():
		return l.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.ctx.Err() != nil {
		return l.ended()
	}
	return nil
}

// ended is why nothing can be sent.
func (l *Leg) ended() error {
	cause := context.Cause(l.ctx)
	var f *peer.Failure
	if errors.As(cause, &f) {
		out := *f
		out.NotDelivered = true
		return &out
	}
	return &peer.Failure{Reason: peer.Ended, NotDelivered: true, Err: cause}
}

// post makes the POST of one message and waits for its status, but not for
// long.
func (l *Leg) post(ctx context.Context, out *peer.Outgoing) error {
	type result struct {
		answered bool
		err      error
	}
	life, cancel := context.WithCancelCause(l.ctx)
	status := make(chan result, 1)
	if !l.spawn(func() {
		defer cancel(nil)
		answered, err := l.deliver(life, out)
		status <- result{answered, err}
	}) {
		cancel(nil)
		return l.ended()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case r := <-status:
		return r.err
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		return context.Cause(ctx)
	case <-timer.C:
	}
	if out.Kind != jsonrpc.KindRequest {
		select {
		case r := <-status:
			return r.err
		case <-ctx.Done():
			cancel(context.Cause(ctx))
			return context.Cause(ctx)
		}
	}
	// Whoever called learns of a late refusal as the answer.
	if !l.spawn(func() {
		if r := <-status; r.err != nil && !r.answered && l.ctx.Err() == nil {
			l.recv.Deliver(jsonrpc.EncodeError(idOf(out), jsonrpc.Errorf(jsonrpc.CodeInternal, "the request was not taken").WithReason(string(peer.ReasonOf(r.err)))))
		}
	}) {
		return l.ended()
	}
	return nil
}

// versionHeader is sent once a revision that has it is agreed on (W11.1, P17).
func (l *Leg) versionHeader(h http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := mcp.Lookup(l.revision); ok && p.On(mcp.Streamable).VersionHeader {
		h["Mcp-Protocol-Version"] = []string{l.revision}
	}
}
