package streamable

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/inflight"
	"github.com/fairlead-dev/fairlead/runtime/internal/lapse"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// Server is an http.Handler for one MCP endpoint. Handler and Keys are
// required; the zero value of every other field works. Fields may not change
// once it has served a request. It is safe for concurrent use.
//
// Serve it with an http.Server that has a ReadHeaderTimeout and no
// WriteTimeout, and not behind an http.ServeMux, which redirects paths that it
// cleans.
type Server struct {
	// Handler is what answers.
	Handler dispatch.Server
	// Keys seal session ids and stream handles.
	Keys *seal.Keyring
	// Pod and Epoch name this process in handles; Pod also begins the ids of
	// reverse requests.
	Pod   string
	Epoch uint64
	// Path is the endpoint [/mcp]; it is served with and without a slash at
	// its end (R17).
	Path string
	// HTTPSSE serves HTTP+SSE of 2024-11-05 on the same path as well: a GET
	// that names neither a session nor a revision opens its stream (P17). Its
	// sessions have bounds of their own, as many again.
	HTTPSSE bool
	// Settings is asked per request for the present settings; nil means the
	// defaults. It must be quick.
	Settings func() Settings
	// Authenticate tells who asks; nil means that everybody is anonymous, and
	// so is a nil identity. An error refuses the request; a *Denied says how.
	Authenticate func(*http.Request) (*auth.Identity, error)
	// Client tells the address that a request comes from, for limits on the
	// anonymous (P22), such as auth.Proxies.Client; nil takes the
	// connection's, whatever headers say (P33.8).
	Client func(*http.Request) netip.Addr
	// Challenge words the WWW-Authenticate field of a request that failed with
	// an *auth.Refusal as its cause (jsonrpc.Error.Cause); nil says what the
	// refusal says, without metadata.
	Challenge func(*auth.Refusal) string
	// ParamSchema finds the inputSchema of a tool, whose Mcp-Param headers are
	// then compared with the arguments of a modern call (W15.17); ok is false
	// for a tool that is not known, and nil checks nothing (P25). It must be
	// quick: a schema that has to be fetched first is fetched elsewhere.
	ParamSchema func(tool string) (schema []byte, ok bool)
	// Store, when not nil, keeps what identifies sessions, so that another
	// process with the same Keys, or this program once it has been started
	// again, goes on with them where the Handler is a dispatch.Adopter. Clients
	// are to be kept at one process as long as it lives: a session that is used
	// at two of them hears of changes only where its streams are. What waited
	// for it without a stream, and what it asked for (a log level,
	// subscriptions), stays behind.
	Store session.Store
	// Events, when not nil, keeps what streams with ids send, so that a client
	// whose session is taken up elsewhere can resume them there. A request ends
	// with its process: unless its answer is there, a resume ends with the
	// error that it is lost (P2).
	Events stream.Events
	// StoreFailed hears errors of Store and Events, which cost a session no more
	// than being taken up, or a stream than being resumed, elsewhere. It must
	// not block.
	StoreFailed func(error)
	// Budget bounds buffered bytes; nil means one of its own.
	Budget *stream.Budget
	// StreamLimits bound streams.
	StreamLimits stream.Limits
	// Receive and Send see every message that a client sends and gets (D4).
	Receive, Send middleware.Middleware
	Observer      *hook.Observer

	once       sync.Once
	streams    *stream.Store
	sessions   *session.Registry
	dispatcher *dispatch.Dispatcher
	serve      dispatch.Handler // Handler.Serve
	base       context.Context  // of modern requests
	end        context.CancelCauseFunc
	draining   atomic.Bool
	requests   inflight.Counter
	listens    listens
	patience   lapse.Clock // of prompt requests
	adoptions  adoptions
	sse        *httpsse.Server // nil unless HTTPSSE
}

// Denied is an error of Authenticate with its HTTP form (W38.2).
type Denied = auth.Denied

func (s *Server) init() {
	s.once.Do(func() {
		if s.Budget == nil {
			s.Budget = &stream.Budget{Observer: s.Observer}
		}
		s.base, s.end = context.WithCancelCause(context.Background())
		s.streams = &stream.Store{Limits: s.StreamLimits, Budget: s.Budget, Observer: s.Observer, Events: s.Events, EventsFailed: s.StoreFailed}
		s.sessions = &session.Registry{
			Streams:         s.streams,
			Max:             func() int { return s.settings().MaxSessions },
			MaxPerPrincipal: func() int { return s.settings().MaxSessionsPerPrincipal },
			Idle:            func() time.Duration { return s.settings().SessionIdle },
			Store:           s.Store,
			StoreFailed:     s.StoreFailed,
			Removed:         s.forget,
			Binding:         mcp.Streamable.String(),
			Observer:        s.Observer,
		}
		s.dispatcher = &dispatch.Dispatcher{
			Server:                   s.Handler,
			Binding:                  mcp.Streamable,
			Pod:                      s.Pod,
			Offer:                    func() mcp.Offer { return s.settings().Revisions },
			Timeout:                  func() time.Duration { return s.settings().RequestTimeout },
			MaxConcurrent:            func() int { return s.settings().MaxConcurrent },
			MaxListening:             func() int { return s.settings().MaxListening },
			MaxListeningPerPrincipal: func() int { return s.settings().MaxListeningPerPrincipal },
			Receive:                  s.Receive,
			Send:                     s.Send,
			Observer:                 s.Observer,
		}
		s.serve = func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome { return s.Handler.Serve(ctx, x) }
		s.sse = s.older()
	})
}

func (s *Server) settings() Settings {
	if s.Settings == nil {
		return Settings{}.withDefaults()
	}
	return s.Settings().withDefaults()
}

// forget lets go of the id of a session that has ended.
func (s *Server) forget(key string) {
	var random seal.Random
	if n, err := hex.Decode(random[:], []byte(key)); err == nil && n == len(random) {
		s.Keys.ForgetSession(random)
	}
}

// Sessions returns the number of sessions.
func (s *Server) Sessions() int {
	s.init()
	n := s.sessions.Len()
	if s.sse != nil {
		n += s.sse.Sessions()
	}
	return n
}

// Streams returns the number of open streams.
func (s *Server) Streams() int {
	s.init()
	n := s.streams.Open()
	if s.sse != nil {
		n += s.sse.Connections()
	}
	return n
}

func (s *Server) path() string {
	if s.Path == "" {
		return "/mcp"
	}
	return s.Path
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
	if s.isOlder(r) {
		s.sse.ServeHTTP(w, r)
		return
	}
	q := &posted{request: request{s: s, r: r, settings: s.settings()}}
	q.Answer = edge.Answer{W: w, WriteTimeout: q.settings.WriteTimeout, Draining: &s.draining}
	defer q.End()
	if refusal := q.edge(); refusal != nil {
		q.refuse(refusal)
		return
	}
	switch r.Method {
	case http.MethodOptions:
		q.preflight()
	case http.MethodHead:
		q.refuse(methodNotAllowed("POST"))
	default:
		q.serve()
	}
}

// request is one HTTP request on its way through the checks.
type request struct {
	edge.Answer
	s         *Server
	r         *http.Request
	settings  Settings
	principal string
	identity  *auth.Identity
}

// Bucket implements dispatch.Caller.
func (q *request) Bucket() string {
	return edge.Bucket(q.identity, q.r, q.s.Client)
}

func (p *posted) serve() {
	if refusal := p.authenticate(); refusal != nil {
		p.refuse(refusal)
		return
	}
	var refusal *refusal
	switch p.r.Method {
	case http.MethodPost:
		refusal = p.post()
	case http.MethodGet:
		refusal = p.get()
	case http.MethodDelete:
		refusal = p.delete()
	default:
		refusal = methodNotAllowed("POST, GET, DELETE")
	}
	if refusal != nil {
		p.refuse(refusal)
	}
}
