package stream

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// Stream is one stream to a client. Make it with Store.New. All methods may be
// called concurrently.
type Stream struct {
	store   *Store
	handle  string
	gone    func()
	keeping keeping       // under keeper.mu
	place   *list.Element // in Store.retained, under Store.mu
	timer   *time.Timer   // under Store.mu

	mu sync.Mutex
	ring
	next   uint64 // the next sequence number
	taken  uint64 // the highest sequence number that a reader took
	reader *Reader
	room   chan struct{} // closed when the reader has taken something
	left   bool          // a reader has come and gone
	final  bool          // nobody can come back for it
	state  state
}

type state uint8

const (
	opened state = iota
	ended        // no more events; what there is can be read
	dropped
)

// Handle is what event ids begin with; empty for a stream without ids.
func (s *Stream) Handle() string { return s.handle }

// Live reports whether the stream is open and being read.
func (s *Stream) Live() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == opened && s.reader != nil && s.reader.end == nil
}

// Send appends one event and never waits. When the outbox is full its reader
// is ended with ErrOverflow: a stream with ids goes on and can be resumed, one
// without ids is lost and Send returns ErrOverflow. After End it returns
// ErrEnded.
func (s *Stream) Send(data []byte) error { return s.send(data, false) }

// SendLast is Send and End in one: nothing can come after the event. When it
// does not fit the stream ends all the same.
func (s *Stream) SendLast(data []byte) error { return s.send(data, true) }

func (s *Stream) send(data []byte, last bool) error {
	cost := int64(len(data) + overhead)
	fits := s.store.reserve(cost)
	s.mu.Lock()
	if s.state != opened {
		s.mu.Unlock()
		if fits {
			s.store.Budget.Release(cost)
		}
		return ErrEnded
	}
	var err error
	switch {
	case !fits:
		err = s.lose()
	case s.full():
		s.endReader(ErrOverflow, false)
		if s.handle == "" {
			s.store.Budget.Release(cost)
			err = ErrOverflow
			break
		}
		fallthrough
	default:
		s.push(data, cost)
	}
	if !last {
		s.mu.Unlock()
		return err
	}
	s.endAndUnlock()
	return err
}

// push appends an event and makes room for it; s.mu is held.
func (s *Stream) push(data []byte, cost int64) {
	e := Event{Seq: s.next, Data: data}
	s.add(e, cost)
	s.store.keeper.keep(s, e)
	s.next++
	for s.over(&s.store.limits) {
		s.evict()
	}
	s.wake()
}

// SendWait is Send for a producer that serves this stream alone: while the
// outbox is more than half full it waits for the reader (P18). Without a
// reader it does not wait. The error may be ctx's cause.
func (s *Stream) SendWait(ctx context.Context, data []byte) error {
	for {
		s.mu.Lock()
		if s.reader == nil || s.state != opened || !s.crowded() {
			s.mu.Unlock()
			return s.Send(data)
		}
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// full reports whether one more event would push out, or for a stream without
// ids exceed, what the reader has not taken. A stream with ids cuts its reader
// at half of the ring, so that what the reader missed is still there when it
// comes back.
func (s *Stream) full() bool {
	if s.reader == nil && s.handle != "" {
		return false
	}
	if s.handle != "" {
		return s.crowded()
	}
	n, size := s.unread()
	return n >= s.store.limits.Events || n > 1 && size >= s.store.limits.Bytes
}

func (s *Stream) crowded() bool {
	n, size := s.unread()
	return n >= max(1, s.store.limits.Events/2) || n > 1 && size >= s.store.limits.Bytes/2
}

// unread counts what the reader has yet to take; all, without a reader.
func (s *Stream) unread() (n int, size int64) {
	for i := len(s.events) - 1; i >= 0; i-- {
		if s.reader != nil && s.events[i].Seq < s.reader.next {
			break
		}
		n++
		size += int64(len(s.events[i].Data) + overhead)
	}
	return n, size
}

// lose is what happens when the budget is used up: the event is lost, and the
// stream knows it; s.mu is held.
func (s *Stream) lose() error {
	s.evicted = s.next
	s.next++
	s.store.keeper.gap(s)
	s.store.Observer.Drop(hook.DropEvicted)
	s.endReader(ErrOverflow, false)
	return ErrOverflow
}

// Reserve takes a sequence number that no event has: a fresh id for a
// connection that is about to end.
func (s *Stream) Reserve() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reserve()
}

func (s *Stream) reserve() uint64 {
	s.next++
	return s.next - 1
}

// End says that no more events come. The reader gets what is left and io.EOF,
// also one that is yet to come; with ids the stream can be resumed for a while.
// A stream without ids that is never read must be dropped. Idempotent.
func (s *Stream) End() {
	s.mu.Lock()
	if s.state != opened {
		s.mu.Unlock()
		return
	}
	s.endAndUnlock()
}

// endAndUnlock ends an open stream; s.mu is held and given back.
func (s *Stream) endAndUnlock() {
	s.state = ended
	s.wake()
	s.signalRoom()
	keep, final, finished := s.handle != "", s.final, s.finished()
	s.mu.Unlock()
	s.store.ended(s, keep, final)
	if finished {
		s.Drop()
	}
}

// finished reports whether nothing more can come of the stream; s.mu is held.
func (s *Stream) finished() bool {
	return s.state == ended && s.left && s.reader == nil && (s.handle == "" || s.final)
}

// Final says that nobody can come back for the stream: it is forgotten when it
// has ended and its reader has gone.
func (s *Stream) Final() {
	s.mu.Lock()
	s.final = true
	finished := s.finished()
	s.mu.Unlock()
	if finished {
		s.Drop()
	}
}

// Drop forgets the stream and everything in it at once. Idempotent.
func (s *Stream) Drop() { s.DropWith(ErrEnded) }

// DropWith is Drop with the cause that the reader is ended with.
func (s *Stream) DropWith(cause error) {
	if gone := s.drop(cause); gone != nil {
		gone()
	}
}

// drop is DropWith that leaves the gone func to the caller; nil when there is
// nothing to call.
func (s *Stream) drop(cause error) (gone func()) {
	s.mu.Lock()
	if s.state == dropped {
		s.mu.Unlock()
		return nil
	}
	wasOpen := s.state == opened
	s.state = dropped
	s.endReader(cause, false)
	size := s.bytes
	s.events, s.bytes = nil, 0
	s.signalRoom()
	s.mu.Unlock()
	s.store.Budget.Release(size)
	s.store.keeper.giveUp(s)
	s.store.forget(s, wasOpen)
	return s.gone
}

// Release ends the reader with cause once it has taken what is there; the
// stream goes on. Without a reader it does nothing.
func (s *Stream) Release(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endReader(cause, true)
}

// Cut ends the reader with cause at once; what it has not taken stays for a
// resume. Without a reader it does nothing.
func (s *Stream) Cut(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endReader(cause, false)
}

// evict pushes out the oldest event; s.mu is held.
func (s *Stream) evict() {
	seq, cost := s.pop()
	if seq > s.taken {
		s.store.Observer.Drop(hook.DropEvicted)
	}
	s.store.Budget.Release(cost)
}

// endReader detaches the reader; s.mu is held.
func (s *Stream) endReader(cause error, drain bool) {
	r := s.reader
	if r == nil {
		return
	}
	r.end, r.drain = cause, drain
	if !drain {
		s.reader = nil
	}
	r.signal()
	s.signalRoom()
}

func (s *Stream) wake() {
	if s.reader != nil {
		s.reader.signal()
	}
}

// signalRoom lets waiting producers look again; s.mu is held.
func (s *Stream) signalRoom() {
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}

// Ended reports whether the stream takes no more events.
func (s *Stream) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state != opened
}

// Rest returns the data of the events after a sequence number, as far as they
// are still there. The stream is not changed.
func (s *Stream) Rest(after uint64) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out [][]byte
	for _, e := range s.events {
		if e.Seq > after {
			out = append(out, e.Data)
		}
	}
	return out
}

func (s *Stream) isDropped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == dropped
}
