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

	mu   sync.Mutex
	next patch
}

// patch is what the work wants changed in its record.
type patch struct {
	message   *string
	ttl, poll time.Duration
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
	h.mark(func(p *patch) { p.message = &message })
}

// KeepFor changes how long the task is kept, counted from its beginning,
// within the bounds that hold for wishes (W36.7).
func (h *Handle) KeepFor(ttl time.Duration) { h.mark(func(p *patch) { p.ttl = ttl }) }

// PollEvery changes how often the client is told to ask (W36.7).
func (h *Handle) PollEvery(poll time.Duration) { h.mark(func(p *patch) { p.poll = poll }) }

func (h *Handle) mark(set func(*patch)) {
	h.mu.Lock()
	set(&h.next)
	h.mu.Unlock()
	select {
	case h.dirty <- struct{}{}:
	default: // the supervisor has not come to the last one yet
	}
}

// take is what has been set since the last take.
func (h *Handle) take() patch {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.next
	h.next = patch{}
	return p
}

// restore gives back what could not be written; what has been set since counts
// more.
func (h *Handle) restore(p patch) {
	h.mark(func(next *patch) {
		if next.message == nil {
			next.message = p.message
		}
		if next.ttl == 0 {
			next.ttl = p.ttl
		}
		if next.poll == 0 {
			next.poll = p.poll
		}
	})
}

func (p patch) empty() bool { return p == patch{} }

func (p patch) apply(e *Engine, r *Record) {
	if p.message != nil {
		r.Message = *p.message
	}
	if p.ttl > 0 {
		r.TTL = e.granted(p.ttl)
		r.Expires = r.Created.Add(r.TTL)
	}
	if p.poll > 0 {
		r.Poll = p.poll
	}
}
