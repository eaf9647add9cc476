// Package dispatch is the one path every incoming request takes, whatever
// transport and revision it came by: exchange, in-flight table, deadline,
// cancel, and the interfaces a transport and a server implementation meet at.
//
// It must not know HTTP, stdio, or any particular MCP method beyond the table
// in runtime/mcp.
package dispatch

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Server is what stands behind a front: the sidecar's proxy, and a native
// server. All methods may be called concurrently.
type Server interface {
	// Open serves a legacy initialize. On success the front keeps s alive
	// until Closed; the result is the raw InitializeResult. ctx ends when the
	// client cancels or the deadline passes.
	Open(ctx context.Context, x *Exchange, s Session) Outcome
	// Serve handles every other request of either era. x.Session() is nil for
	// requests without a session. It returns when the answer is known; ctx is
	// cancelled, with a cause, by cancel, disconnect (2026-07-28), deadline,
	// session end and drain. A method that it does not offer it refuses with
	// -32601. A listening exchange it serves until ctx ends, and then returns
	// the result: within a few seconds, and it is sent unless the client has
	// ended the exchange.
	Serve(ctx context.Context, x *Exchange) Outcome
	// Notify handles a client notification that the front does not consume
	// itself (it consumes initialized, cancelled and progress). The client is
	// answered when it returns.
	Notify(ctx context.Context, s Session, n *jsonrpc.Message)
	// Closed tells that a session whose Open succeeded has ended. Called once,
	// by whoever ended it; it must not wait for peers.
	Closed(s Session, cause error)
}

// Session is a legacy session as a Server sees it. It may outlive the
// connection it began on.
type Session interface {
	// Key is unique in this process; it is not the wire id.
	Key() string
	Principal() string
	// Revision is the negotiated protocol revision.
	Revision() string
	// ClientCapabilities is the raw object from initialize; never nil.
	ClientCapabilities() []byte
	// Value and SetValue carry the Server's own state of the session.
	Value() any
	SetValue(any)
	// Notify sends an unsolicited notification: newest live GET stream, else a
	// bounded queue (P3, B10.12). raw is a complete message.
	Notify(raw []byte) error
	// Call makes a reverse request that belongs to no client request. params
	// is raw; the result is raw (B6.3).
	Call(ctx context.Context, method string, params []byte) Outcome
	// Listening reports whether the client reads a standalone stream, so that
	// it can be reached outside its requests (P15). It does not block.
	Listening() bool
	// Close ends the session: in-flight exchanges, streams, pending calls.
	// Idempotent; does not wait for peers.
	Close(cause error)
	// Retire is Close for a Server that has nothing left to serve the session
	// with: it is not found any more and takes nothing new, but exchanges in
	// flight end by themselves first, so that what is answered is delivered. It
	// does not wait for that; the rest is cut off after a few seconds.
	Retire(cause error)
	// Context is cancelled when the session ends.
	Context() context.Context
}
