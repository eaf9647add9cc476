// Package duplex is the server's end of one conversation over a connection that
// carries messages both ways: a pair of pipes, an in-memory pair, HTTP+SSE, or
// any byte stream somebody frames (W18.12).
//
//	Receive ─► parse ─► era ─┬─► modern: envelope ───────────────┐
//	                         ├─► initialize: a session           ├─► dispatch.Start ─► Server
//	                         ├─► legacy: the session             ┘        │
//	                         └─► response, notification ─► lanes          │
//	Wire ◄── notifications, reverse calls, then the answer ◄──────────────┘
//
// Both eras may be spoken on one connection at the same time, chosen message by
// message; there is at most one session at a time, and it ends with the
// connection. Whoever reads the connection never runs a handler: requests have
// goroutines of their own, and what else the client says goes through two
// lanes, so that a handler that waits for an answer cannot keep that answer
// from being read.
//
// The package owns eras, ids in flight, order and the end. It must not know
// framing, HTTP, or what a method does.
//
// Lock order: Conn.mu, then those of dispatch and session; exchange.mu is held
// while the exchange's own message is handed to the Wire, and no other lock
// with it.
package duplex
