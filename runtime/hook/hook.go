// Package hook is how the runtime is observed: structs of funcs that a program
// fills in, so that no metrics or tracing library is needed here.
//
// Funcs may be nil. They are called on the path of a request, and on timers:
// they must be quick, and must not block, panic or call back. They may be called
// concurrently. Names in events come from closed sets where they may become
// metric labels; tool and prompt names do not (the caller bounds them).
package hook

import "time"

// Observer receives everything that happens in one endpoint. The zero value,
// and a nil pointer, observe nothing. Its fields may not change once it is in
// use.
type Observer struct {
	OperationStarted func(Operation)
	OperationEnded   func(Operation, End)
	SessionStarted   func(Session)
	SessionEnded     func(Session, SessionEnd)
	StreamOpened     func(StreamKind)
	StreamClosed     func(StreamKind, StreamEnd)
	// Rejected is a request that never became an operation.
	Rejected func(Reason)
	// Buffered is the change of bytes held in streams and bodies.
	Buffered func(delta int64)
	// Replayed is an attempt to resume a stream.
	Replayed func(Replay)
	// Dropped are messages to a client that nobody will get.
	Dropped func(Drop)
	// Queued is the change of requests that wait for their turn.
	Queued func(delta int)
	// Listening is the change of listening exchanges (subscriptions/listen).
	Listening func(delta int)
	// Panicked is a panic of a Server, which became an internal error.
	Panicked func(value any, stack []byte)
	// TaskMoved is a change of a task's status by this process: from the empty
	// status when it is made, to it when it is deleted.
	TaskMoved func(from, to TaskStatus)
	// TaskRefused is a task that was not made.
	TaskRefused func(TaskRefusal)
}

// Operation is one request as telemetry names it.
type Operation struct {
	// Method is a method of the protocol, or "_OTHER".
	Method string
	// Revision is a revision that we serve.
	Revision string
	// Binding is "streamable", "stdio" or "http+sse".
	Binding string
	// Tool and Prompt are the client's words; bound them before labelling.
	Tool, Prompt string
}

// End is how an operation ended.
type End struct {
	// ErrorType is empty for success, else: the JSON-RPC code as text,
	// "tool_error", "timeout", "cancelled", "disconnected", or "_OTHER".
	ErrorType string
	// Code is the JSON-RPC error code; 0 when there is none.
	Code     int64
	Duration time.Duration
}

// Session is one legacy session.
type Session struct {
	Revision string
	Binding  string
}

// SessionEnd is how a session ended.
type SessionEnd struct {
	Reason   EndReason
	Duration time.Duration
}

// EndReason is why a session ended.
type EndReason string

// The reasons.
const (
	EndDeleted   EndReason = "deleted"   // by the client
	EndIdle      EndReason = "idle"      // nothing happened for too long
	EndHandshake EndReason = "handshake" // nothing came after initialize (R20)
	EndServer    EndReason = "server"    // the server behind it ended it
	EndShutdown  EndReason = "shutdown"
	EndGone      EndReason = "disconnected" // its one connection ended
)

// StreamKind is what a stream to a client is for.
type StreamKind string

// The kinds.
const (
	StreamGet    StreamKind = "get"
	StreamPost   StreamKind = "post"
	StreamListen StreamKind = "listen"
)

// StreamEnd is why a connection of a stream ended.
type StreamEnd string

// The ends.
const (
	StreamDone     StreamEnd = "done"
	StreamGone     StreamEnd = "disconnected"
	StreamReplaced StreamEnd = "replaced" // resumed elsewhere, or one GET too many
	StreamOverflow StreamEnd = "overflow" // the reader was too slow (P18)
	StreamDrained  StreamEnd = "drained"
	StreamPolled   StreamEnd = "polled" // closed early, the client comes back (SEP-1699)
)

// Reason is why a request was refused before it became an operation.
type Reason string

// The reasons, a closed set.
const (
	RejectOrigin         Reason = "origin"
	RejectHost           Reason = "host"
	RejectMethod         Reason = "method"
	RejectMediaType      Reason = "media_type"
	RejectAccept         Reason = "accept"
	RejectEncoding       Reason = "encoding"
	RejectHeader         Reason = "header"
	RejectHeaderMismatch Reason = "header_mismatch"
	RejectTooLarge       Reason = "too_large"
	RejectSlowBody       Reason = "slow_body"
	RejectJSON           Reason = "json"
	RejectMessage        Reason = "message"
	RejectRevision       Reason = "revision"
	RejectSession        Reason = "session"
	RejectAuth           Reason = "auth"
	RejectSessionLimit   Reason = "quota_sessions"
	RejectStreamLimit    Reason = "quota_streams"
	RejectListenLimit    Reason = "quota_subscriptions"
	RejectOverload       Reason = "overload"
	RejectDraining       Reason = "draining"
)

// Replay is how an attempt to resume a stream went.
type Replay string

// The results.
const (
	ReplayResumed Replay = "resumed"
	ReplayLost    Replay = "lost"
	ReplayUnknown Replay = "unknown" // the handle meant nothing here
)

// Drop is why messages to a client were lost.
type Drop string

// The reasons.
const (
	DropNoStream  Drop = "no_stream"  // the queue of a session without GET was full
	DropEvicted   Drop = "evicted"    // pushed out of a replay ring unread
	DropLate      Drop = "late"       // after the answer or a cancel
	DropNoChannel Drop = "no_channel" // the client takes JSON only
	DropOverflow  Drop = "overflow"   // the client does not read what it is sent
	DropFlood     Drop = "flood"      // a handler sent more than a client is to read
	DropInbound   Drop = "inbound"    // of the client, that there is no room or no use for
)
