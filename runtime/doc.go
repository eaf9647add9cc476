// Package runtime is the root of a Model Context Protocol stack that speaks
// every revision from 2024-11-05 to 2026-07-28. It holds no code; this is the
// tour of its packages, in the order a request travels.
//
// # The way in
//
// transport/streamable takes the HTTP request. What is decided before anything
// is read comes first (edge.go: path, Host, Origin, repeated fields, who asks),
// then the body within its bounds (body.go), then the message (post.go), in the
// order of W16.
//
// strictjson scans the bytes once: grammar, depth, unique names, valid UTF-8
// (P8). Nothing is decoded. jsonrpc points out the few members that routing
// needs; ids and payloads stay the bytes that came.
//
// The era is decided once (post.go, era). mcp is the only place that compares
// revision strings: its Profile says what a revision has, its Wire how that
// looks on a binding, its Method what the revision says about a request.
// modern.go checks the envelope and the headers that mirror it (paramheader
// those of arguments, the same code as the client's); legacy.go finds the
// session. mcp.Offer is which revisions an endpoint serves at all.
//
// A session id is a sealed handle (seal): only this server's keys open it, and
// only for the principal it was made for. session keeps what it stands for: the
// owner, two clocks, the streams, and one place that tears all of it down. With
// a session.Store it goes on elsewhere (adopt.go).
//
// dispatch starts the exchange (Dispatcher.Start): in-flight table, the receive
// stack of middleware, turn, deadline, and one end, whatever comes first. Its
// Server interface is where the stack ends and somebody's server or proxy
// begins. A listening exchange (listening.go) has no deadline and takes no turn.
//
// middleware is one mechanism for four stacks, client and server, send and
// receive (D4): every message passes each of its stacks once, whatever it
// travels by. dispatch runs the server's, client/peer the client's.
//
// # The way back
//
// answer.go decides late whether the answer is JSON or an event stream: the
// first notification, a reverse call or the clock makes it a stream. stream
// holds each stream as an object with its own sequence and one bounded ring,
// which is outbox and replay store at once; connection.go writes it, sse frames
// it. What a slow reader costs, it costs itself (P18).
//
// A reverse call (dispatch, Exchange.Call) goes out on the stream of its
// exchange; the client's answer is a POST of its own that finds it by id
// (Legacy.Receive). Cancel, disconnect, deadline, the end of a session and a
// drain all become the cause of one context, which ends an exchange together
// with its reverse calls (D3).
//
// get.go resumes exactly one stream (P2), drain.go ends what must end when the
// server goes away (P24), and hook tells whoever watches.
//
// # Other ways in
//
// transport/duplex is the server's end of any connection that carries messages
// both ways; what it finds out about a message and where it sends it is the same
// as above. transport/stdio puts it on a pair of pipes (transport/ndjson frames
// them), transport/memory on two queues (transport/queue), transport/httpsse on
// the event stream of HTTP+SSE, which streamable serves on its own URL where it
// is switched on. transport/internal/edge and envelope are what these fronts and
// streamable share.
//
// # The other leg
//
// client talks to servers of any revision, one or a group: client/peer is one
// conversation over a connection with messages in and out, client/httpleg the
// same over streamable HTTP, client/sseleg over HTTP+SSE, client/child with a
// process. salvage tells what can be saved of an answer that is broken.
//
// # What outlives a request
//
// task runs work that nobody can hold a request open for, one engine for both
// eras; its records are changed by compare-and-set only, so several processes
// may share a store. handle gives servers state across calls of a protocol that
// keeps none. Both hand out sealed handles bound to a principal.
//
// # Who asks, and who shows
//
// auth is who asks: an Identity that a Checker made of a bearer token, and the
// refusals of RFC 6750. auth/guard puts a Checker in front of HTTP and serves the
// metadata that its challenges point to; auth/oidc checks signed tokens (the one
// package with a library of others for it); auth/metadata finds authorization
// servers without stepping down; auth/token has tokens ready for a client and
// more scopes when a server wants them. Who asks travels with every exchange and
// message; sessions, tasks, cursors and limits belong to a principal.
//
// apps is MCP Apps for both sides, apps/appserver its views on a server;
// cardinality reads one or many wherever senders differ.
//
// # What holds it together
//
// Lower packages know nothing of higher ones; only the standard library and one
// JSON scanner are used, but for the leaves that say otherwise; every buffer, queue and wait has a bound, a policy at
// the bound and a hook. hack/verify checks the first two.
package runtime
