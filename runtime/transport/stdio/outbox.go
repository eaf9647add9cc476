package stdio

import (
	"context"
	"sync"
)

// outbox is the bounded queue in front of the writer. One message is always
// admitted to an empty queue, whatever its size.
type outbox struct {
	maxMessages int
	maxBytes    int

	mu     sync.Mutex
	msgs   [][]byte
	bytes  int
	closed error
	last   bool          // no more after what is queued
	wake   chan struct{} // cap 1: there is something to take, or the end
	space  chan struct{} // closed when messages were taken; nil if nobody waits
}

func newOutbox(maxMessages, maxBytes int) *outbox {
	return &outbox{maxMessages: maxMessages, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// push queues a message, waiting for room until ctx ends or the box closes.
func (b *outbox) push(ctx context.Context, msg []byte) error {
	for {
		space, err := b.try(msg)
		if err != nil || space == nil {
			return err
		}
		select {
		case <-space:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// try queues a message, or returns a channel to wait on for room.
func (b *outbox) try(msg []byte) (space <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed != nil:
		return nil, b.closed
	case b.last:
		return nil, ErrClosed
	case len(b.msgs) > 0 && (len(b.msgs) >= b.maxMessages || b.bytes+len(msg) > b.maxBytes):
		if b.space == nil {
			b.space = make(chan struct{})
		}
		return b.space, nil
	}
	b.msgs = append(b.msgs, msg)
	b.bytes += len(msg)
	b.signal()
	return nil, nil
}

// take waits for messages and returns all that are queued. done says that none
// follow; after a failure it returns nothing at all.
func (b *outbox) take() (msgs [][]byte, done bool) {
	for range b.wake {
		b.mu.Lock()
		msgs, done = b.msgs, b.last || b.closed != nil
		if b.closed != nil {
			msgs = nil
		}
		b.msgs, b.bytes = nil, 0
		b.release()
		b.mu.Unlock()
		if len(msgs) > 0 || done {
			break
		}
	}
	return msgs, done
}

// finish lets the queue run empty and refuses new messages.
func (b *outbox) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = true
	b.release()
	b.signal()
}

// fail drops what is queued and refuses everything from now on.
func (b *outbox) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil {
		b.closed = err
	}
	b.msgs, b.bytes = nil, 0
	b.release()
	b.signal()
}

func (b *outbox) release() {
	if b.space != nil {
		close(b.space)
		b.space = nil
	}
}

func (b *outbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
