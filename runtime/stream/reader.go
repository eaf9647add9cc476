package stream

import "io"

// Reader is one connection's hold on a stream. It is for one goroutine; Close
// it when the connection ends, however it ends.
type Reader struct {
	// Prime is a fresh sequence number for the connection's first event. It is
	// 0 when the stream has no ids, and for a resume that has events to replay,
	// which bring fresh ids as well (P3).
	Prime uint64
	// Replayed is the number of events that were there already.
	Replayed int

	s      *Stream
	next   uint64 // under s.mu
	end    error  // under s.mu
	drain  bool   // end only when nothing is left; under s.mu
	ready  chan struct{}
	taken  []Event
	holds  int64 // bytes of a stream without ids that are being written
	closed bool
}

// firstPrime is the sequence number that every stream with ids keeps for the
// beginning of its first connection.
const firstPrime = 1

// Attach gives the stream to a new reader; one that is attached ends with
// ErrReplaced (P2: newest wins). after is the sequence number of the last
// event that the client has; 0 reads from the first event on. The error is
// ErrLost when events after it are gone, ErrEnded when the stream is, and
// ErrComplete when it has ended and nothing follows.
func (s *Stream) Attach(after uint64) (*Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attach(after)
}

// First is Attach for the connection that the stream was made for. What was
// pushed out before it came is lost, which is no reason to lose the rest.
func (s *Stream) First() (*Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.evicted
	r, err := s.attach(lost)
	if err == nil && lost > 0 && r.Prime == 0 && s.handle != "" {
		r.Prime = lost // an id that nobody was given, and the last before what comes
	}
	return r, err
}

// attach is Attach; s.mu is held.
func (s *Stream) attach(after uint64) (*Reader, error) {
	if s.state == dropped {
		return nil, ErrEnded
	}
	if after < s.evicted {
		return nil, ErrLost
	}
	after = min(after, s.next-1) // beyond the end: nothing to replay
	if s.state == ended && after > 0 && (len(s.events) == 0 || s.events[len(s.events)-1].Seq <= after) {
		return nil, ErrComplete
	}
	s.endReader(ErrReplaced, false)
	r := &Reader{s: s, next: after + 1, ready: make(chan struct{}, 1)}
	for i := range s.events {
		if s.events[i].Seq >= r.next {
			r.Replayed++
		}
	}
	switch {
	case s.handle == "":
	case after == 0:
		r.Prime, r.next = firstPrime, firstPrime+1
	case r.Replayed == 0 && s.state == opened:
		r.Prime = s.reserve()
		r.next = s.next
	}
	s.reader = r
	r.signal()
	return r, nil
}

// Ready receives when Take may have something new.
func (r *Reader) Ready() <-chan struct{} { return r.ready }

// Take returns the events that have come since the last Take, which are valid
// until the next one, and how the reading ends: nil when more may come, io.EOF
// when the stream has ended and this was all, else the cause. What is returned
// together with an end is still to be written.
func (r *Reader) Take() ([]Event, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	r.free()
	if r.end != nil && !r.drain {
		return nil, r.end
	}
	r.taken = r.taken[:0]
	for i := range s.events {
		if s.events[i].Seq >= r.next {
			r.taken = append(r.taken, s.events[i])
		}
	}
	if n := len(r.taken); n > 0 {
		r.next = r.taken[n-1].Seq + 1
		s.taken = max(s.taken, r.next-1)
		if s.handle == "" {
			// Nothing can be replayed: the bytes are the reader's until they
			// are written.
			r.holds, s.bytes = s.bytes, 0
			clear(s.events)
			s.events = s.events[:0]
		}
		s.signalRoom()
	}
	switch {
	case r.end != nil:
		return r.taken, r.end
	case s.state == ended:
		return r.taken, io.EOF
	}
	return r.taken, nil
}

// Close gives the stream up. What was not taken stays for a resume, or is lost
// when the stream has no ids.
func (r *Reader) Close() {
	s := r.s
	s.mu.Lock()
	if r.closed {
		s.mu.Unlock()
		return
	}
	r.closed = true
	s.left = true
	r.free()
	if s.reader == r {
		s.reader = nil
		s.signalRoom()
	}
	finished := s.finished()
	s.mu.Unlock()
	if finished {
		s.Drop()
	}
}

// free gives back what the last Take held; s.mu is held.
func (r *Reader) free() {
	clear(r.taken)
	r.s.store.Budget.Release(r.holds)
	r.holds = 0
}

func (r *Reader) signal() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}
