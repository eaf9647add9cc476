package httpsse

import (
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/inflight"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// Server is an http.Handler for one HTTP+SSE endpoint: GET and POST on the same
// path. Handler and Keys are required; the zero value of every other field
// works. Fields may not change once it has served a request. It is safe for
// concurrent use. Serve it with an http.Server that has a ReadHeaderTimeout and
// no WriteTimeout.
type Server struct {
	// Handler is what answers.
	Handler dispatch.Server
	// Keys seal the session ids of the URIs for POSTs.
	Keys *seal.Keyring
	// Pod and Epoch name this process in session ids; Pod also begins the ids
	// of reverse requests.
	Pod   string
	Epoch uint64
	// Path is served with and without a slash at its end [/sse].
	Path string
	// Endpoint is what the endpoint event names before the query. Empty means
	// the URL of the GET itself as a relative reference, which holds behind
	// proxies that rewrite paths.
	Endpoint string
	// Settings is asked per request; nil means the defaults. It must be quick.
	Settings func() Settings
	// Authenticate tells who asks; nil means that everybody is anonymous. An
	// error refuses the request; an *auth.Denied says how.
	Authenticate func(*http.Request) (*auth.Identity, error)
	// Client tells the address that a request comes from, by which the
	// anonymous are counted (P22); nil takes the connection's.
	Client func(*http.Request) netip.Addr
	// Receive and Send see every message (D4).
	Receive, Send middleware.Middleware
	// Budget bounds buffered bytes; nil means one of its own.
	Budget *stream.Budget
	// StreamLimits bound streams.
	StreamLimits stream.Limits
	Observer     *hook.Observer

	once       sync.Once
	streams    *stream.Store
	sessions   *session.Registry
	dispatcher *dispatch.Dispatcher
	table      table
	draining   atomic.Bool
	requests   inflight.Counter
}

func (s *Server) init() {
	s.once.Do(func() {
		if s.Budget == nil {
			s.Budget = &stream.Budget{Observer: s.Observer}
		}
		s.streams = &stream.Store{Limits: s.StreamLimits, Budget: s.Budget, Observer: s.Observer}
		s.sessions = &session.Registry{
			Streams:  s.streams,
			Max:      func() int { return s.settings().MaxConnections },
			Binding:  mcp.HTTPSSE.String(),
			Observer: s.Observer,
			// Handshake is fixed at the first request; it is a safety net.
			Handshake: s.settings().Handshake,
		}
		s.dispatcher = &dispatch.Dispatcher{
			Server: s.Handler, Binding: mcp.HTTPSSE, Pod: s.Pod, Receive: s.Receive, Send: s.Send, Observer: s.Observer,
			Offer:         func() mcp.Offer { return s.settings().Revisions },
			Timeout:       func() time.Duration { return s.settings().RequestTimeout },
			MaxConcurrent: func() int { return s.settings().MaxConcurrent },
		}
	})
}

func (s *Server) settings() Settings {
	if s.Settings == nil {
		return Settings{}.withDefaults()
	}
	return s.Settings().withDefaults()
}

func (s *Server) path() string {
	if s.Path == "" {
		return "/sse"
	}
	return s.Path
}

// Connections returns the number of open streams.
func (s *Server) Connections() int { return s.table.len() }

// Sessions returns the number of sessions: streams whose client has sent
// initialize.
func (s *Server) Sessions() int {
	s.init()
	return s.sessions.Len()
}

// querySession is the name of the session id in the URI for POSTs.
const querySession = "sessionId"

// Concerns reports whether a request on a path that also serves streamable HTTP
// is for this transport (P17): a GET that names neither a session nor a
// revision, or whatever carries a session id in its query.
func Concerns(r *http.Request) bool {
	if r.Method == http.MethodGet && r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Protocol-Version") == "" {
		return true
	}
	return r.Method == http.MethodPost && r.URL.RawQuery != "" && r.URL.Query().Has(querySession)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.init()
	s.requests.Enter()
	defer s.requests.Leave()
	if path := r.URL.EscapedPath(); path != s.path() && path != s.path()+"/" {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	q := &request{s: s, r: r, settings: s.settings()}
	q.Answer = edge.Answer{W: w, WriteTimeout: q.settings.WriteTimeout, Draining: &s.draining}
	defer q.End()
	if refusal := q.serve(); refusal != nil {
		q.refuse(refusal)
	}
}
