// Package peer is the protocol's client role on one leg: it mints ids, keeps
// what is in flight, gives progress back under the caller's own token, answers
// the server's own requests, cancels, and resolves every call with an answer
// or a cause, whatever happens to the link below.
//
//	Call ─► pending table ─► Link.Send ─────────────► server
//	     ◄─ mailbox of the call ◄─ Receiver.Deliver ◄─┘
//
// A Link is either duplex (pipes: Send returns when the message is queued and
// answers come through the Receiver) or inline (HTTP: Send of a request runs
// its whole exchange and delivers on the caller's own goroutine, so that no
// reader ever waits for another request's consumer).
//
// Locks: Peer.mu, then mailbox.mu; none is held across a Link or a Handler.
//
// The package must not know HTTP, processes, clients in front or the meaning
// of any method beyond initialize, ping, cancelled, progress and the three
// requests that B6.1 names.
package peer
