package task

import (
	"context"
	"sync"
	"time"
)

// Handle is a running task as its work sees it. All methods may be called
// concurrently; once the task is over they do nothing.
type Handle struct {
	job   *job
	ctx   context.Context
	id    string
	dirty chan struct{} // one place

	mu      sync.Mutex
	message *string
	ttl     time.Duration
	poll    time.Duration
}

// ID is the task's id on the wire.
func (h *Handle) ID() string { return h.id }

// Context ends with the task; its cause is ErrCancelled, ErrExpired or
// ErrClosed.
func (h *Handle) Context() context.Context { return h.ctx }

// Status sets the status message, a text for people of at most MaxMessage
// bytes. It never waits: the message is written soon, and of several close to
// one another only the last is.
func (h *Handle) Status(message string) {
	message = cut(message)
	h.mark(func() { h.message = &message })
}

// KeepFor changes how long the task is kept, counted from its beginning,
// within the bounds that hold for wishes (W36.7).
func (h *Handle) KeepFor(ttl time.Duration) { h.mark(func() { h.ttl = ttl }) }

// PollEvery changes how often the client is told to ask (W36.7).
func (h *Handle) PollEvery(poll time.Duration) { h.mark(func() { h.poll = poll }) }

func (h *Handle) mark(set func()) {
	h.mu.Lock()
	set()
	h.mu.Unlock()
	select {
	case h.dirty <- struct{}{}:
	default: // the supervisor has not come to the last one yet
	}
}

// take is what has been set since the last take.
func (h *Handle) take() (edit func(*Record), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	message, ttl, poll := h.message, h.ttl, h.poll
	h.message, h.ttl, h.poll = nil, 0, 0
	return func(r *Record) {
		if message != nil {
			r.Message = *message
		}
		if ttl > 0 {
			r.TTL = h.job.e.granted(ttl)
			r.Expires = r.Created.Add(r.TTL)
		}
		if poll > 0 {
			r.Poll = poll
		}
	}, message != nil || ttl > 0 || poll > 0
}
