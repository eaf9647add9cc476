// Package httpleg is the client side of streamable HTTP: a peer.Link that puts
// each message into a POST of its own and reads what comes back, for sessions
// (2025-03-26 to 2025-11-25, and 2024-11-05 where a server takes it) and for
// requests that carry their own envelope (2026-07-28).
//
//	Send(request) ─ POST ─► status, sniff ─► JSON │ event stream ─► Deliver
//	                                          └ broken: GET + Last-Event-ID (B3.9)
//	after initialized: one GET, kept open ─► Receiver.Deliver       (P6)
//	Close: DELETE
//
// It owns headers, redirects, sizes, encodings, resuming, and the judgement
// whether a session is gone. What a message means is the peer's; which
// revision to offer, when to initialize again and how many connections there
// may be are its user's. Content types are a hint and never trusted.
//
// Only the headers named in request.go are ever sent: nothing of a client in
// front can reach the server through here (R19, B5.11).
package httpleg
