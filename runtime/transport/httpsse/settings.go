package httpsse

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Settings are what may change while the server runs. Zero fields mean the
// default in brackets.
type Settings struct {
	// Revisions are the protocol revisions that are served [all that have a
	// handshake].
	Revisions mcp.Offer
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
	// Handshake is how long a client may be silent before and after
	// initialize [60 s] (R20).
	Handshake time.Duration
	// MaxConcurrent bounds requests that are worked on [256].
	MaxConcurrent int
	// MaxConnections and MaxConnectionsPerPrincipal bound streams, which are
	// sessions [10,000; none].
	MaxConnections, MaxConnectionsPerPrincipal int
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
	set(&s.Handshake, time.Minute)
	set(&s.MaxConnections, 10_000)
	return s
}

func set[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
