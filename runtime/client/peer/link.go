package peer

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
)

// Link carries messages to one server. Send may be called concurrently.
type Link interface {
	// Start begins delivery to r. It is called once, before any Send.
	Start(r Receiver)
	// Inline says that Send of a request returns only when its answer was
	// delivered or can no longer come. Otherwise Send returns as soon as the
	// message is queued; with a ctx that has ended already it queues at once
	// or fails.
	Inline() bool
	// Send hands over one message. The error is a *Failure, or ctx's cause.
	Send(ctx context.Context, out *Outgoing) error
	// Close ends the link; it is idempotent and does not wait for the server.
	Close(cause error)
}

// Negotiator is a Link that has to know what initialize agreed on.
type Negotiator interface {
	// Negotiated is called after a usable InitializeResult, before
	// notifications/initialized is sent.
	Negotiated(revision string)
}

// Receiver is what a Link delivers to; a Peer is one.
type Receiver interface {
	// Deliver takes one message that came on no request's own stream. It does
	// not block. raw is the receiver's to keep.
	Deliver(raw []byte)
	// Broken takes what could be read of a message that is lost (R5). begin
	// is its beginning, at most a few hundred bytes.
	Broken(what salvage.Peek, begin []byte, reason Reason)
	// Ended tells that nothing more will be delivered. Called at most once.
	Ended(err error)
}

// Outgoing is one message on its way to the server.
type Outgoing struct {
	// Raw is the whole message; it does not change any more.
	Raw []byte
	// Kind, ID and Method describe it; ID is ours and 0 for all but requests.
	Kind   jsonrpc.Kind
	ID     int64
	Method string
	// Revision is set on requests that carry the envelope of a stateless
	// revision; Name is then what Mcp-Name mirrors and Fields are the
	// Mcp-Param-* headers.
	Revision string
	Name     string
	Fields   []Field
	// Deliver takes what came on this request's own stream, on the goroutine
	// of Send, and reports whether that was the answer. Nil but for requests
	// on inline links.
	Deliver func(raw []byte) (answered bool)
}

// Field is one HTTP header that mirrors a part of the body (W15).
type Field struct{ Name, Value string }
