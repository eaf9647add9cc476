// Package ndjson carries JSON-RPC messages over a pair of byte pipes, one
// message a line (W18.1).
//
//	our Send ──► outbox (bounded) ──► writer goroutine ──► child's stdin
//	Deliver  ◄── reader goroutine ◄── line splitter    ◄── child's stdout
//
// It owns framing, the frame limit, the order of what is written and the
// deadline of a peer that stops reading. It does not parse messages, does not
// start or stop processes, and knows nothing of sessions: whoever made the
// pipes owns the process behind them.
package ndjson
