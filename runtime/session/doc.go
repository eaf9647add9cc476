// Package session keeps legacy sessions: who owns them, how long they live,
// which streams they have, and the one place that tears them down.
//
//	New ── nothing for the handshake time (R20) ──────────────┐
//	 │ first request or notification                          ▼
//	 ▼                                                      Close
//	in use ◄── Enter / Leave ──► idle ── idle time over ────► │ context cancelled, standalone streams
//	                              │                           │ dropped, OnClose called once
//	                              └── DELETE, server, shutdown ┘
//
// A session has no goroutine of its own. The package must not know HTTP,
// message contents, or what a session id looks like on the wire.
//
// Lock order: Registry.mu and Session.mu are never held together; Session.mu
// before those of package stream.
package session
