// Package sse reads and writes event streams (text/event-stream).
//
// It owns framing: line ends cut anywhere, bounds, comments, ids. It must not
// know JSON-RPC, HTTP or which events mean what.
package sse

// Event is one event as it was framed.
type Event struct {
	// Name is the event field; empty means "message".
	Name string
	// Data are the data lines joined by line feeds. It belongs to the caller.
	Data []byte
	// ID is the id field of this event; HasID tells an empty one from none.
	ID    string
	HasID bool
	// RetryMS is the retry field in milliseconds; -1 when absent.
	RetryMS int64
}

// IsMessage reports whether the event carries a message: default name and some
// data. Others (pings, priming) are to be skipped (C06).
func (e *Event) IsMessage() bool {
	return (e.Name == "" || e.Name == "message") && len(e.Data) > 0
}
