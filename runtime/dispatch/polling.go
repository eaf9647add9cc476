package dispatch

import "errors"

// ErrNoPolling: the exchange's connection cannot be closed without losing its
// answer, or there is none.
var ErrNoPolling = errors.New("the client cannot come back for this answer")

// Poller is a Channel whose connection can be closed while its exchange goes
// on, because the client comes back for the rest (SEP-1699, W8.8).
type Poller interface {
	ClosePolling() error
}

// ClosePolling ends the connection of the exchange's stream early, with the
// time to come back after; the exchange goes on, and what it sends waits for
// the client (W9.5). A server with slow work calls it to hold no connection
// meanwhile. The error is ErrNoPolling where the wire has no such thing: other
// transports, revisions before 2025-11-25 and stateless ones.
func (x *Exchange) ClosePolling() error {
	if p, ok := x.req.Channel.(Poller); ok {
		return p.ClosePolling()
	}
	return ErrNoPolling
}
