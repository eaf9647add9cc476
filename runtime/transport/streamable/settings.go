package streamable

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Settings are what may change while the server runs. Zero fields mean the
// default in brackets.
type Settings struct {
	// Revisions are the protocol revisions that are served [all]. Sessions
	// keep theirs when it changes.
	Revisions mcp.Offer
	// NoHTTPSSE opens no new streams of HTTP+SSE where Server.HTTPSSE has it:
	// a GET for one is answered as where that transport is unknown.
	NoHTTPSSE bool
	// MaxBodyBytes bounds one request body [4 MiB].
	MaxBodyBytes int64
	// BodyTimeout is how long a body may take to arrive, and how long it may
	// wait for room [30 s]. One of more than 4 KiB that has begun to come may
	// not fall a sixth of that behind an even arrival.
	BodyTimeout time.Duration
	// RequestTimeout bounds one request, waiting included [5 min].
	RequestTimeout time.Duration
	// KeepAlive is the period of comments on silent streams [15 s].
	KeepAlive time.Duration
	// WriteTimeout is how long a reader may stall one write [10 s].
	WriteTimeout time.Duration
	// MaxConcurrent bounds requests that are worked on [256].
	MaxConcurrent int
	// MaxListening and MaxListeningPerPrincipal bound listening exchanges
	// (subscriptions/listen), which MaxConcurrent does not count [4,096; none].
	MaxListening, MaxListeningPerPrincipal int
	// MaxSessions and MaxSessionsPerPrincipal bound sessions [10,000; none].
	MaxSessions, MaxSessionsPerPrincipal int
	// SessionIdle is how long a session may be idle [60 min].
	SessionIdle time.Duration
	// AllowedOrigins are exact origins, scheme://host[:port], that browsers
	// may call from. Without any, a request with an Origin is refused unless
	// both it and the listener are local.
	AllowedOrigins []string
}

func (s Settings) withDefaults() Settings {
	set(&s.MaxBodyBytes, 4<<20)
	set(&s.BodyTimeout, 30*time.Second)
	set(&s.RequestTimeout, 5*time.Minute)
	set(&s.KeepAlive, 15*time.Second)
	set(&s.WriteTimeout, 10*time.Second)
	return s
}

func set[T int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// earlyStream is when tools/call becomes an event stream where ids let a
// dropped client come back (P4).
const earlyStream = time.Second

// openPatience is how long what begins a conversation stays undecided: a server
// that is not up is waited for, and then it is 503 (B4.5, B4.10).
const openPatience = 35 * time.Second

// retryMS is what clients are told to wait before they come back to a stream
// that is closed on purpose (P24).
const retryMS = 1000
