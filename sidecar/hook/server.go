package hook

import (
	"context"
	"time"
)

// Defaults of Server (O3).
const (
	DefaultRestartAfter = 1 * time.Second
	DefaultRestartWait  = 5 * time.Second
)

// Server answers hooks. The fields are set before Serve and not changed
// after; Drain, Draining, Drained and WorkloadStopping are required.
type Server struct {
	// Drain begins the drain of the pod: idempotent, returns at once. cause is
	// a constant word for logs ("preStop").
	Drain func(cause string)
	// Draining is closed once a drain has begun, by Drain or by SIGTERM.
	Draining <-chan struct{}
	// Drained is closed once the drain is over.
	Drained <-chan struct{}
	// WorkloadStopping is told that the workload container is being restarted:
	// stop sending to it, wait for its calls until ctx ends (RestartWait, or
	// the hook went away), return. Readiness comes back with the next
	// handshake, also when no restart follows. It may be called again, and
	// concurrently.
	WorkloadStopping func(ctx context.Context)

	// RestartAfter and RestartWait are the clocks above; zero: the default.
	RestartAfter, RestartWait time.Duration
	// Observe is told how each hook ended, for a counter and a log line; may
	// be nil, must not block. Both words come from closed sets.
	Observe func(kind Kind, outcome Outcome)
}

// Kind says whose preStop hook it is.
type Kind string

// The kinds of hook.
const (
	KindSidecar  Kind = "sidecar"
	KindWorkload Kind = "workload"
	kindUnknown  Kind = "unknown"
)

// Outcome is how a hook ended.
type Outcome string

// The outcomes.
const (
	OutcomeDrained   Outcome = "drained"   // the pod ends, and nothing is in flight
	OutcomeRestart   Outcome = "restart"   // the workload container restarts, its calls are over or cut
	OutcomeGone      Outcome = "gone"      // the asking side went away first
	OutcomeForbidden Outcome = "forbidden" // kind sidecar from a stranger
	OutcomeMalformed Outcome = "malformed" // no request of ours, or none in time
	OutcomeBusy      Outcome = "busy"      // too many hooks at once
	OutcomeClosed    Outcome = "closed"    // the server was closed first
)

// Serve listens on the unix socket at path and answers hooks until ctx ends;
// then it closes the socket and every connection, waits for its handlers and
// returns nil. A stale socket at path is replaced. Call it once.
func (s *Server) Serve(ctx context.Context, path string) error { return nil }
