package client

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

// State is how a connection is.
type State uint8

// The states.
const (
	// Connecting: the first connection, or one after a loss, is being made.
	Connecting State = iota
	// Connected: the server answers.
	Connected
	// Degraded: the server answers, or may, but something does not work: it
	// could not be reached, or a stream that it should push on is broken.
	Degraded
	// Closed: nothing will work any more.
	Closed
)

// String names the state as a metric label would.
func (s State) String() string {
	switch s {
	case Connecting:
		return "connecting"
	case Connected:
		return "connected"
	case Degraded:
		return "degraded"
	case Closed:
		return "closed"
	}
	return "unknown"
}

// Change is one step of a connection.
type Change struct {
	// State is the new one, Before the one that it was.
	State, Before State
	// Attempt counts attempts to connect since the last success, from 1; 0
	// when it is about none.
	Attempt int
	// Wait is the pause before the next attempt.
	Wait time.Duration
	// Reason is from a closed set: a peer.Reason, "connected", "closed",
	// "stream_lost", "stream_open", "server_error".
	Reason string
	// Err is the cause for logs; it may be nil.
	Err error
}

// Observer hears what a Client does on its own. Funcs may be nil; they must not
// block, and may be called concurrently.
type Observer struct {
	// State is called with each change, in order.
	State func(Change)
	// Dropped counts what of the server was thrown away.
	Dropped func(peer.Drop)
	// Noise shows the beginning of what was no message.
	Noise func(excerpt string)
	// Resumed counts response streams that broke and were taken up again.
	Resumed func()
	// Retried tells of a request that is made again, and why.
	Retried func(method, reason string)
	// ToolDropped names a tool that was left out of a list because its
	// x-mcp-header annotations break the rules (W15.15).
	ToolDropped func(name string)
	// Panicked is a panic of one of the Handlers, or of a func that hears a
	// call's notifications: the server's question is refused, and the rest of
	// the connection goes on.
	Panicked func(value any, stack []byte)
}
