package handle

import (
	"container/heap"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
)

// queue is a heap of entries by the time of their expiry.
type queue[T any] []*entry[T]

func (q queue[T]) Len() int           { return len(q) }
func (q queue[T]) Less(i, j int) bool { return q[i].expires.Before(q[j].expires) }

func (q queue[T]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *queue[T]) Push(x any) {
	e := x.(*entry[T])
	e.at = len(*q)
	*q = append(*q, e)
}

func (q *queue[T]) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.at = -1
	return e
}

// until is when an entry that is used now expires.
func (s *Store[T]) until(e *entry[T], now time.Time) time.Time {
	if idle := now.Add(s.o.Idle); s.o.Idle > 0 && idle.Before(e.dies) {
		return idle
	}
	return e.dies
}

// arm sets the timer for the next expiry; s.mu is held.
func (s *Store[T]) arm(now time.Time) {
	if len(s.queue) == 0 || s.closed {
		s.timer.Stop()
		return
	}
	s.timer.Reset(max(s.queue[0].expires.Sub(now), time.Millisecond))
}

// remove takes an entry out that is in; s.mu is held.
func (s *Store[T]) remove(e *entry[T]) {
	heap.Remove(&s.queue, e.at)
	delete(s.entries, e.key)
	if s.owners[e.account]--; s.owners[e.account] == 0 {
		delete(s.owners, e.account)
	}
}

// expired takes out what has expired; s.mu is held.
func (s *Store[T]) expired(now time.Time) (gone []*entry[T]) {
	for len(s.queue) > 0 && !now.Before(s.queue[0].expires) {
		e := s.queue[0]
		s.remove(e)
		gone = append(gone, e)
	}
	return gone
}

// sweep is what the timer does.
func (s *Store[T]) sweep() {
	s.mu.Lock()
	now := s.o.Now()
	gone := s.expired(now)
	s.arm(now)
	s.mu.Unlock()
	s.releaseAll(gone)
}

func (s *Store[T]) releaseAll(gone []*entry[T]) {
	for _, e := range gone {
		e.mu.Lock() // an edit that runs comes first
		s.release(e)
		e.mu.Unlock()
	}
}

// release gives the value away; e.mu is held.
func (s *Store[T]) release(e *entry[T]) {
	value := e.value
	var zero T
	e.value = zero
	if s.o.Released != nil {
		fence.Call(s.o.Panicked, func() { s.o.Released(value) })
	}
}
