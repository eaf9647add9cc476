package client

import (
	"encoding/json"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// Bounds and clocks that Options leave alone.
const (
	// DefaultTimeout bounds one request (W4.13).
	DefaultTimeout = 5 * time.Minute
	// DefaultProbeTimeout is how long a server on pipes may say nothing to
	// server/discover before it counts as one that wants initialize (W5.15).
	DefaultProbeTimeout = 5 * time.Second
	// DefaultMaxRounds bounds how often one request may ask for input.
	DefaultMaxRounds = 16
)

// Options say whom to connect to, as whom, and what may be asked back. Server
// is required; every other zero value works.
type Options struct {
	// Server is where the server is: an HTTP, a *Command, a Pipes, or whatever
	// else dials a link.
	Server Target
	// Name, Title and Version introduce this program.
	Name, Title, Version string
	// Revision pins the protocol revision; empty finds the newest that both
	// sides know.
	Revision string
	// Handlers serve what the server asks and tells. What is declared as a
	// capability follows from them.
	Handlers Handlers
	// Extensions are declared as they are, by identifier (W5.11).
	Extensions map[string]json.RawMessage
	// Tasks lets a server of 2026-07-28 turn any tools/call into a task, which
	// CallTool then waits for. Without it only StartTool declares the
	// extension, and a call that the server cannot serve without it.
	Tasks bool
	// Timeout bounds each request [DefaultTimeout]; negative: only its context
	// does.
	Timeout time.Duration
	// ProbeTimeout as DefaultProbeTimeout says.
	ProbeTimeout time.Duration
	// CheckOutput holds structured output of a tool against the outputSchema
	// of the last list, both raw (W24.9), e.g. with runtime/schema; an error
	// makes the call fail with an OutputError. Nil: nobody checks.
	CheckOutput func(schema, output json.RawMessage) error
	// MaxRounds bounds the rounds of one request that asks for input.
	MaxRounds int
	// MaxMessageBytes bounds one message of the server [16 MiB].
	MaxMessageBytes int
	// MaxPending bounds the requests in flight [1024].
	MaxPending int
	// KeepAlive is the pause between pings to a server with a session; one
	// without an answer within the same time ends the connection (W21.2).
	// 0: no pings.
	KeepAlive time.Duration
	// Reconnect says what happens when the connection ends.
	Reconnect Reconnect
	// Retry says how requests are repeated that may be.
	Retry Retry
	// Observer hears of states and of what is thrown away.
	Observer Observer
	// Send and Receive see every message that goes to the server and comes from
	// it, whatever the revision (D4).
	Send, Receive middleware.Middleware
	// Wire sees every message of either direction; nil: nobody does. See
	// WireLog.
	Wire func(WireRecord)
}

// Reconnect is the policy for a connection that has ended: the process exited,
// the session is unknown to the server, the pipe broke.
type Reconnect struct {
	// Never ends the Client with its first connection.
	Never bool
	// Attempts bounds failed attempts in a row [8]; negative: no bound.
	Attempts int
	// First is the pause before the second attempt [500 ms]; it doubles up to
	// Max [30 s], and each is lengthened by up to a quarter at random. The
	// first attempt follows at once.
	First, Max time.Duration
}

// Retry is the policy for requests without an answer. A request that was
// certainly not acted on is repeated whatever its method; one that may have
// been, only if its method changes nothing, or it is a tool that the server
// calls idempotent and the caller asked for it (RetryIfIdempotent).
type Retry struct {
	// Attempts bounds how often a request is made [3]; 1: never again.
	Attempts int
	// First and Max are the pauses as in Reconnect [200 ms, 5 s]. A server that
	// says Retry-After is obeyed up to a minute.
	First, Max time.Duration
}

func (o *Options) fill() {
	if o.Name == "" {
		o.Name, o.Version = "fairlead", "1"
	}
	fill(&o.Timeout, DefaultTimeout)
	fill(&o.ProbeTimeout, DefaultProbeTimeout)
	fill(&o.MaxRounds, DefaultMaxRounds)
	fill(&o.Reconnect.Attempts, 8)
	fill(&o.Reconnect.First, 500*time.Millisecond)
	fill(&o.Reconnect.Max, 30*time.Second)
	fill(&o.Retry.Attempts, 3)
	fill(&o.Retry.First, 200*time.Millisecond)
	fill(&o.Retry.Max, 5*time.Second)
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
