package hook

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// Defaults of Server (O3).
const (
	DefaultRestartAfter = 1 * time.Second
	DefaultRestartWait  = 5 * time.Second
)

const (
	// maxHooks bounds the hooks of strangers and, apart from them, our own:
	// the workload must not be able to keep the sidecar's own hook out.
	maxHooks = 8
	// lineTimeout bounds the request and the answer, one short line each.
	lineTimeout = 2 * time.Second
	// acceptPause follows an accept that failed for want of descriptors.
	acceptPause = 100 * time.Millisecond
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
	// KindUnknown is observed, never asked for: nothing readable came.
	KindUnknown Kind = "unknown"
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
)

// Serve listens on the unix socket at path and answers hooks until ctx ends;
// then it closes the socket and every connection, waits for its handlers and
// returns nil. A stale socket at path is replaced. Call it once.
func (s *Server) Serve(ctx context.Context, path string) error {
	if s.Drain == nil || s.Draining == nil || s.Drained == nil || s.WorkloadStopping == nil {
		return errors.New("hook: Drain, Draining, Drained and WorkloadStopping are required")
	}
	l, err := socket.Listen(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var handlers sync.WaitGroup
	defer handlers.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()

	strangers, own := make(chan struct{}, maxHooks), make(chan struct{}, maxHooks)
	for {
		conn, err := l.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // EMFILE and the like pass
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		h := &handler{server: s, conn: conn, trusted: trusted(conn)}
		places := strangers
		if h.trusted {
			places = own
		}
		select {
		case places <- struct{}{}:
			handlers.Go(func() {
				defer func() { <-places }()
				h.serve(ctx)
			})
		default:
			h.end(KindUnknown, OutcomeBusy)
		}
	}
}

// trusted tells whether the peer is an exec hook of our own container.
func trusted(conn *net.UnixConn) bool {
	peer, err := socket.PeerOf(conn)
	return err == nil && peer.UID == os.Getuid() && peer.PID != 0
}

func (s *Server) observe(kind Kind, outcome Outcome) {
	if s.Observe != nil {
		s.Observe(kind, outcome)
	}
}
