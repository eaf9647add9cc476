// Package queue is the bounded queue in front of one writer: of a pipe, or of
// the other end of an in-memory pair. It must not know what it carries.
package queue

import (
	"context"
	"sync"
)

// Queue holds messages until its one reader takes them. One message is always
// admitted to an empty queue, whatever its size. Make it with New. All methods
// may be called concurrently; Take by one goroutine only.
type Queue struct {
	maxMessages int
	maxBytes    int
	finished    error

	mu     sync.Mutex
	msgs   [][]byte
	bytes  int
	closed error
	last   bool          // no more after what is queued
	busy   bool          // the reader works on what it took, or somebody in its place
	begun  bool          // Take was called
	roused bool          // something is left to the reader: Take is to return
	wake   chan struct{} // cap 1: there is something to take, or the end
	space  chan struct{} // closed when messages were taken; nil if nobody waits
}

// New makes a Queue with bounds in messages and bytes. finished is what Push
// says after Finish.
func New(maxMessages, maxBytes int, finished error) *Queue {
	return &Queue{maxMessages: maxMessages, maxBytes: maxBytes, finished: finished, wake: make(chan struct{}, 1)}
}

// Push queues a message, waiting for room until ctx ends or the queue closes.
func (q *Queue) Push(ctx context.Context, msg []byte) error {
	for {
		space, err := q.try(msg)
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

// Try queues a message if there is room now. full tells that there was none.
func (q *Queue) Try(msg []byte) (full bool, err error) {
	space, err := q.try(msg)
	return space != nil, err
}

// try queues a message, or returns a channel to wait on for room.
func (q *Queue) try(msg []byte) (space <-chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed != nil:
		return nil, q.closed
	case q.last:
		return nil, q.finished
	case len(q.msgs) > 0 && (len(q.msgs) >= q.maxMessages || q.bytes+len(msg) > q.maxBytes):
		if q.space == nil {
			q.space = make(chan struct{})
		}
		return q.space, nil
	}
	q.msgs = append(q.msgs, msg)
	q.bytes += len(msg)
	q.signal()
	return nil, nil
}

// Take waits for messages and returns all that are queued. done says that none
// follow; after a failure it returns nothing at all. Until it is called again
// its caller is at work, see Claim.
func (q *Queue) Take() (msgs [][]byte, done bool) {
	q.mu.Lock()
	q.begun, q.busy = true, false
	q.mu.Unlock()
	for range q.wake {
		q.mu.Lock()
		if q.busy {
			q.mu.Unlock() // somebody writes in the reader's place, and then says so
			continue
		}
		msgs, done = q.msgs, q.last || q.closed != nil
		if q.closed != nil {
			msgs = nil
		}
		q.msgs, q.bytes = nil, 0
		q.release()
		found := len(msgs) > 0 || done || q.roused
		q.busy, q.roused = found, false
		q.mu.Unlock()
		if found {
			break
		}
	}
	return msgs, done
}

// Claim takes the reader's place for a moment if it has nothing to do and
// nothing is queued: what its caller does until Yield is before all that is
// pushed meanwhile. It does not wait.
func (q *Queue) Claim() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy || q.roused || !q.begun || len(q.msgs) > 0 || q.last || q.closed != nil {
		return false
	}
	q.busy = true
	return true
}

// Yield ends a Claim. rouse has Take return although nothing may be queued.
func (q *Queue) Yield(rouse bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy, q.roused = false, rouse
	if rouse || len(q.msgs) > 0 || q.last || q.closed != nil {
		q.signal()
	}
}

// Finish lets the queue run empty and refuses new messages.
func (q *Queue) Finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last = true
	q.release()
	q.signal()
}

// Fail drops what is queued and refuses everything from now on.
func (q *Queue) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		q.closed = err
	}
	q.msgs, q.bytes = nil, 0
	q.release()
	q.signal()
}

func (q *Queue) release() {
	if q.space != nil {
		close(q.space)
		q.space = nil
	}
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
