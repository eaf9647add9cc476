// Package stream holds the streams to clients as objects (D5): each with its
// own identity, sequence, bounded buffer and at most one reader, so that one
// slow reader never delays another.
//
//	producer ── Send ──► [ ring of events ] ── Take ──► Reader ──► connection
//	                        │        ▲
//	                evicted ▼        └── Attach(after) resumes, newest wins
//
// One buffer serves both as outbox and as replay store: what the reader has
// not taken yet is the outbox, what it has taken stays for a resume until it
// is pushed out. Producers do not wait: an outbox that is full ends the
// reader, never the producer (P18); SendWait is for a producer that serves
// nothing else.
//
// What streams with ids send can be kept beyond the process too, by an Events
// (W9.9, D10): told in the background, at the price of the resume when it
// cannot follow, never of the producer.
//
// The package owns buffers, sequence numbers, bounds and the byte budget of the
// process. It must not know HTTP, event framing, messages or sessions.
//
// Lock order: Store.mu, then Stream.mu, then Budget.mu or keeper.mu. Observers are told
// under Stream.mu; the gone func of a stream is called without locks.
package stream
