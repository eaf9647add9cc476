package streamable

import (
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// errPolling ends the connection of a stream whose client comes back for the
// rest (SEP-1699).
var errPolling = errors.New("the client polls")

var _ dispatch.Poller = (*answer)(nil)

// ClosePolling implements dispatch.Poller: what has been sent is written, then
// a fresh id and the time to come back after, then the connection ends (W8.8,
// W9.3, W9.5). A client that comes back at once finds the stream going on.
func (a *answer) ClosePolling() error {
	if a.legacy == nil || !a.wire.Retry {
		return dispatch.ErrNoPolling
	}
	st := a.commit()
	if st == nil || st.Handle() == "" {
		return dispatch.ErrNoPolling
	}
	a.mu.Lock()
	a.polling = true
	a.mu.Unlock()
	st.Release(errPolling)
	return nil
}

// pollEarly ends a connection that was asked to end before it was there.
func (a *answer) pollEarly(st *stream.Stream) {
	a.mu.Lock()
	polling := a.polling
	a.mu.Unlock()
	if polling {
		st.Release(errPolling)
	}
}
