// Package httpsse is the server side of HTTP+SSE, the transport of 2024-11-05
// that clients of later revisions use too (W13, P17): a GET opens one event
// stream, whose first event names where to POST, and everything the server says
// comes on that stream.
//
//	GET  ─► edge ─► who ─► connection ─► event: endpoint ─► events, keep-alive
//	                          │  ▲
//	POST ─► edge ─► who ─► duplex ─► dispatch ─► 202, the answer on the stream
//
// The session lives and ends with its stream: nothing can be resumed. The URI
// for POSTs carries a sealed session id that only the same principal can use. A
// reader that is too slow ends its own stream and nobody else's (P18).
//
// The package owns HTTP for this transport; the conversation is duplex's. It
// must not know what a method does.
package httpsse
