// Package sseleg is the client side of HTTP+SSE, the transport of 2024-11-05
// (W13): a peer.Link that keeps one event stream open, learns from its first
// event where to POST, and delivers everything that comes on it.
//
//	Start ─ GET ─► event: endpoint ─► event: message … ─► Receiver.Deliver
//	Send  ─ POST to the endpoint ─► 202
//
// Nothing can be resumed: when the stream ends, the Link has ended, and with it
// every call. The endpoint must be on the server that the stream came from; a
// server that names another one is not followed.
//
// It owns headers, redirects, sizes and the judgement of statuses. It must not
// know what messages mean. It has no part in finding out which transport a
// server speaks.
package sseleg
