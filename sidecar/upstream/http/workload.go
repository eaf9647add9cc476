package http

import (
	"context"
	"net"
	nethttp "net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Defaults of Config.
const (
	DefaultHold           = 30 * time.Second
	DefaultIdle           = 10 * time.Minute
	DefaultStartup        = 30 * time.Second
	DefaultMaxInstances   = 256
	DefaultMaxConnections = 16 << 10
)

// Config describes a Workload. Port is required; zero values of the rest mean
// the defaults.
type Config struct {
	// Port and Path are where the workload listens on loopback.
	Port int
	Path string
	// Era is how the workload is spoken to, where that is configured (B1.1);
	// "" finds out.
	Era upstream.Era
	// Revision is the one that the workload is configured to speak.
	Revision upstream.Fixed
	// First is the key whose session readiness asks and keeps: clients of that
	// key find it open.
	First upstream.Key
	// Hold is how long a request waits for a workload that is not there (P1).
	Hold time.Duration
	// Idle ends a shared session that nobody uses.
	Idle time.Duration
	// Startup bounds one handshake.
	Startup time.Duration
	// MaxMessageBytes bounds one message of the workload.
	MaxMessageBytes int
	// MaxInstances bounds the shared sessions.
	MaxInstances int
	// MaxConnections bounds connections to the workload. Each session holds
	// one for its standalone GET and one for each request in flight, so it is
	// a last resort: the front bounds both earlier.
	MaxConnections int
	// Budget bounds what the sidecar buffers; nil means no bound.
	Budget peer.Budget
	// Dial replaces the way to the workload, for tests.
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Hooks Hooks
}

// Hooks observe a Workload. Nil members are skipped; they must not block.
type Hooks struct {
	// Renewed tells that a session was opened again, or could not be.
	Renewed func(err error)
	// Closes tells that the workload closes connections that are kept for later,
	// so that each request gets one of its own.
	Closes func()
	Leg    httpleg.Hooks
	Peer   peer.Hooks
}

// Workload is the MCP server behind a port; see New. All methods may be called
// concurrently. Whoever makes it calls Shutdown.
type Workload struct {
	cfg    Config
	url    *url.URL
	client *nethttp.Client
	conns  *connections

	mu        sync.Mutex
	legs      map[*leg]struct{}
	instances map[upstream.Key]*instance
	era       upstream.Verdict
	talk      talker
	older     atomic.Bool // it speaks HTTP+SSE and nothing newer
	closed    bool
	wg        sync.WaitGroup
}

// New makes a Workload. It connects to nothing.
func New(cfg Config) *Workload {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&cfg.Hold, DefaultHold)
	def(&cfg.Idle, DefaultIdle)
	def(&cfg.Startup, DefaultStartup)
	if cfg.MaxInstances <= 0 {
		cfg.MaxInstances = DefaultMaxInstances
	}
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = DefaultMaxConnections
	}
	if cfg.Dial == nil {
		cfg.Dial = loopback(cfg.Port)
	}
	w := &Workload{
		cfg:       cfg,
		url:       &url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(cfg.Port), Path: cfg.Path},
		legs:      map[*leg]struct{}{},
		instances: map[upstream.Key]*instance{},
	}
	w.conns = newConnections(&w.cfg)
	w.client = &nethttp.Client{Transport: w.conns}
	w.era.Fixed, w.era.Find = cfg.Era, w.findEra
	w.talk.begin(w)
	return w
}

// loopback dials IPv4 and, where nobody listens there, IPv6: some servers bind
// to what "localhost" means to them.
func loopback(port int) func(context.Context, string, string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return c, nil
		}
		if c, second := dialer.DialContext(ctx, "tcp", net.JoinHostPort("::1", strconv.Itoa(port))); second == nil {
			return c, nil
		}
		return nil, err
	}
}

// OpenSession opens a session of the workload's for one of a client's. Errors
// as of the stdio workload's.
func (w *Workload) OpenSession(ctx context.Context, r upstream.SessionRequest) (upstream.Leg, error) {
	l, err := w.open(ctx, r.Params, r.Handler, w.cfg.Hold, w.cfg.Startup)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Check connects to the port and says nothing.
func (w *Workload) Check(ctx context.Context) error {
	c, err := w.cfg.Dial(ctx, "tcp", w.url.Host)
	if err != nil {
		return explain(&peer.Failure{Reason: peer.Unreachable, Err: err})
	}
	return c.Close()
}

// Shutdown refuses new legs, lets each finish what is in flight until ctx ends,
// and deletes the sessions. It returns when all that is done.
func (w *Workload) Shutdown(ctx context.Context) {
	w.mu.Lock()
	w.closed = true
	legs := make([]*leg, 0, len(w.legs))
	for l := range w.legs {
		legs = append(legs, l)
	}
	w.mu.Unlock()
	var wg sync.WaitGroup
	for _, l := range legs {
		wg.Go(func() {
			l.quiet(ctx)
			l.Close(upstream.ErrClosed)
		})
	}
	wg.Wait()
	w.talk.end(ctx)
	w.wg.Wait()
	w.conns.end()
}
