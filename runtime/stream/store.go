package stream

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// Limits bound streams. A zero field means its default.
type Limits struct {
	// Events and Bytes bound what one stream holds [256, 4 MiB] (B15.2). One
	// event larger than Bytes is held alone.
	Events int
	Bytes  int64
	// Retain is how long a stream that has ended can still be resumed
	// [5 min].
	Retain time.Duration
	// Open bounds streams that have not ended [10,000] (P33.2).
	Open int
	// Retained bounds streams that have ended and are kept [4,096]; the
	// oldest goes first.
	Retained int
}

func (l Limits) withDefaults() Limits {
	if l.Events <= 0 {
		l.Events = 256
	}
	if l.Bytes <= 0 {
		l.Bytes = 4 << 20
	}
	if l.Retain <= 0 {
		l.Retain = 5 * time.Minute
	}
	if l.Open <= 0 {
		l.Open = 10_000
	}
	if l.Retained <= 0 {
		l.Retained = 4096
	}
	return l
}

// lastWords is how long a stream that nobody can come back for waits for a
// reader that is just being attached.
const lastWords = 10 * time.Second

// Errors of streams and readers.
var (
	// ErrFull: the process has as many open streams as it may.
	ErrFull = errors.New("too many open streams")
	// ErrEnded: the stream takes no more events.
	ErrEnded = errors.New("the stream has ended")
	// ErrOverflow: the reader was too slow, or the budget is used up.
	ErrOverflow = errors.New("the reader is too slow")
	// ErrReplaced: another reader has taken over.
	ErrReplaced = errors.New("the stream is read elsewhere")
	// ErrComplete: the stream has ended and the client has all of it.
	ErrComplete = errors.New("the stream has been read to its end")
	// ErrLost: what followed the given event is no longer there.
	ErrLost = errors.New("events of the stream are lost")
)

// Store makes streams and bounds them together. Zero fields mean defaults; no
// field may change once it is in use. All methods may be called concurrently.
type Store struct {
	Limits Limits
	// Budget counts the bytes; nil means one of its own.
	Budget   *Budget
	Observer *hook.Observer
	// Events, when not nil, is told what streams with ids send, so that another
	// process can go on with them. It mirrors what can be resumed here: what is
	// forgotten here is dropped there, but for what a process leaves behind.
	Events Events
	// EventsFailed hears what could not be kept: an error of Events, or
	// ErrBehind. The stream cannot be resumed elsewhere then.
	EventsFailed func(error)

	once     sync.Once
	keeper   *keeper // nil without Events
	limits   Limits
	mu       sync.Mutex
	open     int
	retained list.List // of *Stream, oldest first
}

func (s *Store) init() {
	s.once.Do(func() {
		s.limits = s.Limits.withDefaults()
		if s.Budget == nil {
			s.Budget = &Budget{Observer: s.Observer}
		}
		if s.Events != nil {
			s.keeper = &keeper{events: s.Events, failed: s.EventsFailed}
		}
	})
}

// New opens a stream. handle is what event ids begin with; an empty one makes
// a stream without ids, which cannot be resumed. gone, when not nil, is called
// once when the stream is forgotten. The caller ends it with End or Drop. The
// only error is ErrFull.
func (s *Store) New(handle string, gone func()) (*Stream, error) {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.limits.Open {
		return nil, ErrFull
	}
	s.open++
	st := &Stream{store: s, handle: handle, gone: gone, next: 1}
	if handle != "" {
		st.reserve() // what the first connection begins with
	}
	return st, nil
}

// Leave says that the process is about to end: what Events has from now on
// stays there, however the streams end.
func (s *Store) Leave() {
	s.init()
	s.keeper.leave()
}

// Kept waits until Events has been told everything. The error is ctx's cause.
func (s *Store) Kept(ctx context.Context) error {
	s.init()
	return s.keeper.wait(ctx)
}

// Open returns the number of streams that have not ended.
func (s *Store) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// reserve takes n bytes of the budget, at the price of streams that are only
// kept for a resume.
func (s *Store) reserve(n int64) bool {
	for !s.Budget.TryAcquire(n) {
		if !s.dropOldest() {
			return false
		}
	}
	return true
}

func (s *Store) dropOldest() bool {
	s.mu.Lock()
	front := s.retained.Front()
	s.mu.Unlock()
	if front == nil {
		return false
	}
	// The producer that needs the room may hold locks which gone takes.
	if gone := front.Value.(*Stream).drop(ErrEnded); gone != nil {
		go gone()
	}
	return true
}

// ended moves a stream from open to retained, or out when it cannot be
// resumed.
func (s *Store) ended(st *Stream, keep, final bool) {
	s.mu.Lock()
	s.open--
	var oldest *Stream
	if keep && !st.isDropped() {
		retain := s.limits.Retain
		if final {
			retain = min(retain, lastWords)
		}
		st.place = s.retained.PushBack(st)
		st.timer = time.AfterFunc(retain, st.Drop)
		if s.retained.Len() > s.limits.Retained {
			oldest = s.retained.Front().Value.(*Stream)
		}
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.Drop()
	}
}

// forget takes a stream out of whatever it is in.
func (s *Store) forget(st *Stream, wasOpen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wasOpen {
		s.open--
	}
	if st.place != nil {
		s.retained.Remove(st.place)
		st.place = nil
	}
	if st.timer != nil {
		st.timer.Stop()
	}
}
