package handle

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Store keeps values of one type in this process, each behind a handle. Make it
// with New and end it with Close. All methods may be called concurrently.
type Store[T any] struct {
	o Options[T]

	mu      sync.Mutex
	entries map[seal.Random]*entry[T]
	owners  map[string]int // account → handles
	queue   queue[T]       // by the time of expiry
	timer   *time.Timer    // for the head of the queue
	closed  bool
}

// entry is one value. All but value are guarded by the store's lock.
type entry[T any] struct {
	key     seal.Random
	account string
	dies    time.Time // the end of its time to live
	expires time.Time // that, or the end of its idle time
	at      int       // in the queue; -1 when it has left

	mu    sync.Mutex // of whoever changes the value
	value T
}

// New makes a store. It runs nothing until there is a handle.
func New[T any](o Options[T]) (*Store[T], error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store[T]{o: o, entries: map[seal.Random]*entry[T]{}, owners: map[string]int{}}
	s.timer = time.AfterFunc(time.Hour, s.sweep)
	s.timer.Stop()
	return s, nil
}

// Put keeps a value and returns its handle. Errors: ErrOwnerFull, ErrFull,
// ErrClosed, what Authorize says.
func (s *Store[T]) Put(ctx context.Context, owner Owner, value T) (string, error) {
	if err := s.o.allow(ctx, owner, Create, value); err != nil {
		return "", err
	}
	key := seal.NewRandom()
	bound := bind("store", s.o.Kind, owner.Principal)
	token, err := s.o.Keys.Seal(seal.PurposeHandle, append(key[:], bound[:]...))
	if err != nil {
		return "", err
	}
	gone, err := s.insert(key, owner.account(), value)
	s.releaseAll(gone)
	if err != nil {
		return "", err
	}
	return token, nil
}

// insert adds an entry, and takes out those that have expired, to make room.
func (s *Store[T]) insert(key seal.Random, account string, value T) (gone []*entry[T], err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	gone = s.expired(now)
	defer s.arm(now)
	switch {
	case s.closed:
		return gone, ErrClosed
	case s.owners[account] >= s.o.PerOwner:
		return gone, ErrOwnerFull
	case len(s.entries) >= s.o.Total:
		return gone, ErrFull
	}
	e := &entry[T]{key: key, account: account, dies: now.Add(s.o.TTL), value: value}
	e.expires = s.until(e, now)
	s.entries[key] = e
	s.owners[account]++
	heap.Push(&s.queue, e)
	return gone, nil
}

// Get returns the value behind a handle. Errors: ErrUnknown, what Authorize
// says.
func (s *Store[T]) Get(ctx context.Context, owner Owner, handle string) (T, error) {
	var zero T
	e, err := s.find(owner, handle)
	if err != nil {
		return zero, err
	}
	e.mu.Lock()
	value := e.value
	e.mu.Unlock()
	if err := s.use(ctx, owner, Read, e, value); err != nil {
		return zero, err
	}
	return value, nil
}

// Update changes the value behind a handle to what edit makes of it, one edit
// of a handle at a time; it returns the new value. An error of edit leaves the
// value as it was and is returned; edit must not use the same handle. Errors besides: ErrUnknown, also when the
// handle was revoked or expired meanwhile, and what Authorize says.
func (s *Store[T]) Update(ctx context.Context, owner Owner, handle string, edit func(T) (T, error)) (T, error) {
	var zero T
	e, err := s.find(owner, handle)
	if err != nil {
		return zero, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := s.use(ctx, owner, Change, e, e.value); err != nil {
		return zero, err
	}
	next, err := edit(e.value)
	if err != nil {
		return zero, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.at < 0 { // its value has been released
		return zero, ErrUnknown
	}
	e.value = next
	return next, nil
}

// Revoke ends a handle at once. Errors: ErrUnknown, what Authorize says.
func (s *Store[T]) Revoke(ctx context.Context, owner Owner, handle string) error {
	e, err := s.find(owner, handle)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := s.use(ctx, owner, Revoke, e, e.value); err != nil {
		return err
	}
	s.release(e)
	return nil
}

// RevokeAll ends all handles of an owner, without asking Authorize: it is for
// the server, when somebody logs out or loses a right. It returns how many.
func (s *Store[T]) RevokeAll(owner Owner) int {
	account := owner.account()
	s.mu.Lock()
	var gone []*entry[T]
	for _, e := range s.entries {
		if e.account == account {
			s.remove(e)
			gone = append(gone, e)
		}
	}
	s.mu.Unlock()
	s.releaseAll(gone)
	return len(gone)
}

// Len is how many handles there are.
func (s *Store[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// Close ends all handles; new ones are refused. Idempotent.
func (s *Store[T]) Close() {
	s.mu.Lock()
	s.closed = true
	s.timer.Stop()
	var gone []*entry[T]
	for _, e := range s.entries {
		s.remove(e)
		gone = append(gone, e)
	}
	s.mu.Unlock()
	s.releaseAll(gone)
}

// find returns the entry that a handle names to this caller.
func (s *Store[T]) find(owner Owner, handle string) (*entry[T], error) {
	plain, err := s.o.Keys.Open(seal.PurposeHandle, handle)
	var key seal.Random
	if err != nil || len(plain) != len(key)+sha256.Size {
		return nil, ErrUnknown
	}
	bound := bind("store", s.o.Kind, owner.Principal)
	if subtle.ConstantTimeCompare(plain[len(key):], bound[:]) != 1 {
		return nil, ErrUnknown
	}
	copy(key[:], plain)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil || !s.o.Now().Before(e.expires) {
		return nil, ErrUnknown
	}
	return e, nil
}

// use asks whether the caller may, and counts it as a use: the last one, if it
// is to revoke the handle.
func (s *Store[T]) use(ctx context.Context, owner Owner, use Use, e *entry[T], value T) error {
	if err := s.o.allow(ctx, owner, use, value); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	if e.at < 0 || !now.Before(e.expires) {
		return ErrUnknown // it ended while we asked
	}
	if use == Revoke {
		s.remove(e)
	} else if s.o.Idle > 0 {
		e.expires = s.until(e, now)
		heap.Fix(&s.queue, e.at)
		s.arm(now)
	}
	return nil
}
