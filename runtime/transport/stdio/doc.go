// Package stdio serves a server over a pair of byte pipes, one message a line
// (W18.1): the standard input and output of this program as a rule.
//
//	client's output ──► ndjson.Conn ─► duplex.Conn ─► dispatch ─► Server
//	client's input  ◄── ndjson.Conn ◄────────────────────────────┘
//
// It owns the beginning and the end of that: options, what the end of input
// means, backpressure. Framing is ndjson's, the conversation duplex's; the
// client's side of pipes is client/peer's.
package stdio
