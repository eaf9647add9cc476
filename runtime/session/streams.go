package session

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// streams are the streams of one session, under Session.mu. They are few:
// slices in order of opening.
type streams struct {
	standalone []*stream.Stream // open, oldest first (P3)
	answers    []*stream.Stream // of requests; ended ones can be resumed
	retained   []*stream.Stream // standalone ones whose connection has gone
	queue      *stream.Waiting  // unsolicited messages; nil until one waits
	came       chan struct{}    // closed when a stream got a reader
}

// end empties everything and returns the streams to drop, and the answers,
// which end by themselves with their requests.
func (l *streams) end() (drop, answers []*stream.Stream) {
	drop, answers = append(l.standalone, l.retained...), l.answers
	l.queue.Take()
	*l = streams{}
	return drop, answers
}

// OpenAnswer opens the stream of one request's answer.
func (s *Session) OpenAnswer(handle string) (*stream.Stream, error) {
	st, err := s.open(handle)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		st.Final()
		return st, nil // its request is ending, and ends it
	}
	s.streams.answers = append(s.streams.answers, st)
	oldest := overflowing(s.streams.answers)
	s.mu.Unlock()
	if oldest != nil {
		oldest.Drop()
	}
	return st, nil
}

// OpenStandalone opens a standalone stream. from, when not nil, is one that
// the client read until after and that it comes back for: what followed there
// is moved over and from ends (P2). missed is what followed on a stream that
// another process had. One stream too many ends the oldest (P3).
func (s *Session) OpenStandalone(handle string, from *stream.Stream, after uint64, missed ...[]byte) (*stream.Stream, error) {
	st, err := s.open(handle)
	if err != nil {
		return nil, err
	}
	for _, data := range missed {
		_ = st.Send(data) // fits: both have the same bounds
	}
	if from != nil {
		for _, data := range from.Rest(after) {
			_ = st.Send(data) // fits: both have the same bounds
		}
		from.DropWith(stream.ErrReplaced)
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		st.Drop()
		return nil, ErrClosed
	}
	l := &s.streams
	for _, data := range l.queue.Take() {
		_ = st.Send(data)
	}
	l.standalone = append(l.standalone, st)
	var oldest *stream.Stream
	if len(l.standalone) > MaxStandalone {
		oldest = l.standalone[0]
		l.standalone = append([]*stream.Stream(nil), l.standalone[1:]...)
		l.retained = append(l.retained, oldest)
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.Release(ErrTooManyGets)
	}
	return st, nil
}

func (s *Session) open(handle string) (*stream.Stream, error) {
	var st *stream.Stream
	st, err := s.registry.Streams.New(handle, func() { s.forget(st) })
	return st, err
}

// CloseStandalone says that the connection of a standalone stream has ended.
// What it had not been sent can be had by a resume for a while.
func (s *Session) CloseStandalone(st *stream.Stream) {
	s.mu.Lock()
	l := &s.streams
	if i := indexOf(l.standalone, st); i >= 0 {
		l.standalone = without(l.standalone, i)
		l.retained = append(l.retained, st)
	}
	oldest := overflowing(l.retained)
	s.mu.Unlock()
	st.End()
	if oldest != nil {
		oldest.Drop()
	}
}

// Lookup finds a stream of the session by its handle; standalone tells which
// kind it is.
func (s *Session) Lookup(handle string) (st *stream.Stream, standalone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams.answers {
		if st.Handle() == handle {
			return st, false
		}
	}
	for _, list := range [][]*stream.Stream{s.streams.standalone, s.streams.retained} {
		for _, st := range list {
			if st.Handle() == handle {
				return st, true
			}
		}
	}
	return nil, false
}

// Arrived says that a stream of the session has got a reader.
func (s *Session) Arrived() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams.came != nil {
		close(s.streams.came)
		s.streams.came = nil
	}
}

// PushOnce is Push for a message that says nothing new while the same one still
// waits for a reader.
func (s *Session) PushOnce(raw []byte) error {
	s.mu.Lock()
	waits := s.streams.queue.Has(raw)
	s.mu.Unlock()
	if waits {
		return nil
	}
	return s.Push(raw)
}

// Push sends an unsolicited message: on the newest standalone stream that is
// being read, else it waits in a bounded queue for the next one; when that is
// full the oldest waiting message is lost (P3).
//
// A session that is bound to one connection has no such queue: the connection
// takes the message or refuses it.
func (s *Session) Push(raw []byte) error {
	s.mu.Lock()
	if wire := s.wire; wire != nil && !s.ended {
		s.mu.Unlock()
		return wire.Send(raw)
	}
	defer s.mu.Unlock()
	if s.ended {
		return ErrClosed
	}
	l := &s.streams
	for i := len(l.standalone) - 1; i >= 0; i-- {
		if l.standalone[i].Live() && l.standalone[i].Send(raw) == nil {
			return nil
		}
	}
	if l.queue == nil {
		l.queue = s.Waiting()
	}
	for range l.queue.Add(raw) {
		s.registry.Observer.Drop(hook.DropNoStream)
	}
	return nil
}

// Waiting makes a place for unsolicited messages within the bounds of a session.
func (s *Session) Waiting() *stream.Waiting {
	return &stream.Waiting{Store: s.registry.Streams, Max: MaxQueue, MaxBytes: MaxQueueBytes}
}

// Carrier returns a stream that can carry a request to the client which belongs
// to none of the client's: the newest standalone one, else that of a running
// request; it waits for one until ctx ends (B6.3).
func (s *Session) Carrier(ctx context.Context) (Sender, error) {
	for {
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			return nil, ErrClosed
		}
		if wire := s.wire; wire != nil {
			s.mu.Unlock()
			return wire, nil
		}
		for _, list := range [][]*stream.Stream{s.streams.standalone, s.streams.answers} {
			for i := len(list) - 1; i >= 0; i-- {
				if list[i].Live() {
					s.mu.Unlock()
					return list[i], nil
				}
			}
		}
		if s.streams.came == nil {
			s.streams.came = make(chan struct{})
		}
		came := s.streams.came
		s.mu.Unlock()
		select {
		case <-came:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.ctx.Done():
			return nil, ErrClosed
		}
	}
}

// Standalone returns the open standalone streams, oldest first.
func (s *Session) Standalone() []*stream.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*stream.Stream(nil), s.streams.standalone...)
}

// Listening reports whether a standalone stream is being read: the client can
// be reached outside its requests and is not idle (P15). It does not block.
func (s *Session) Listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wire != nil {
		return !s.ended
	}
	for _, st := range s.streams.standalone {
		if st.Live() {
			return true
		}
	}
	return false
}

// forget drops what the store no longer has.
func (s *Session) forget(st *stream.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range []*[]*stream.Stream{&s.streams.standalone, &s.streams.answers, &s.streams.retained} {
		if i := indexOf(*list, st); i >= 0 {
			*list = without(*list, i)
		}
	}
}

// overflowing returns the oldest stream that has ended when a list keeps more
// than it may.
func overflowing(list []*stream.Stream) *stream.Stream {
	if len(list) <= MaxRetained {
		return nil
	}
	for _, st := range list {
		if st.Ended() {
			return st
		}
	}
	return nil
}

func indexOf(list []*stream.Stream, st *stream.Stream) int {
	for i := range list {
		if list[i] == st {
			return i
		}
	}
	return -1
}

// without removes by copying, so that no backing array keeps a stream alive.
func without(list []*stream.Stream, i int) []*stream.Stream {
	if len(list) == 1 {
		return nil
	}
	out := make([]*stream.Stream, 0, len(list)-1)
	return append(append(out, list[:i]...), list[i+1:]...)
}
