package session

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"
)

// Record is what outlives the process that a session is in, so that another one
// can adopt it (D9). The byte slices are read-only.
type Record struct {
	// Revision and Principal are as negotiated and as authenticated.
	Revision, Principal string
	// Capabilities and ClientInfo are raw objects from initialize; ClientInfo
	// may be nil.
	Capabilities, ClientInfo []byte
	// Created is when initialize came, to the second at least.
	Created time.Time
}

// Store keeps the records of sessions under their keys, for other processes or
// for the time after this one (see streamable.Server). It is told of sessions
// that begin, that are in use for long and that end, and asked for one only when
// a request names a session that this process does not have. All methods may be
// called concurrently, honour ctx, and return an error only when the store could
// not be asked: that something is not there is none.
type Store interface {
	// Put stores r until ttl has passed. A second Put replaces the first. The
	// error may be ErrStoreFull.
	Put(ctx context.Context, key string, r Record, ttl time.Duration) error
	// Get returns the record; ok is false when there is none or its time has
	// passed.
	Get(ctx context.Context, key string) (r Record, ok bool, err error)
	// Touch gives the record ttl from now; ok is false when there is none.
	Touch(ctx context.Context, key string, ttl time.Duration) (ok bool, err error)
	// Delete removes the record, if there is one.
	Delete(ctx context.Context, key string) error
}

// ErrStoreFull: the store holds as many records as it may.
var ErrStoreFull = errors.New("the session store is full")

// Memory is a Store in this process: it outlives sessions, not the program. The
// zero value works.
type Memory struct {
	// Max bounds the records; 0 means DefaultMax.
	Max int

	mu      sync.Mutex
	records map[string]kept
}

var _ Store = (*Memory)(nil)

type kept struct {
	Record
	until time.Time
}

// Put implements Store. At the bound, records whose time has passed make room.
func (m *Memory) Put(ctx context.Context, key string, r Record, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := m.Max
	if limit <= 0 {
		limit = DefaultMax
	}
	if _, there := m.records[key]; !there && len(m.records) >= limit {
		m.sweep()
		if len(m.records) >= limit {
			return ErrStoreFull
		}
	}
	if m.records == nil {
		m.records = map[string]kept{}
	}
	r.Capabilities, r.ClientInfo = bytes.Clone(r.Capabilities), bytes.Clone(r.ClientInfo)
	m.records[key] = kept{r, time.Now().Add(ttl)}
	return nil
}

func (m *Memory) sweep() {
	now := time.Now()
	for key, k := range m.records {
		if !now.Before(k.until) {
			delete(m.records, key)
		}
	}
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) (Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, false, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.live(key)
	return k.Record, ok, nil
}

// live finds a record and forgets it when its time has passed; m.mu is held.
func (m *Memory) live(key string) (kept, bool) {
	k, ok := m.records[key]
	if ok && !time.Now().Before(k.until) {
		delete(m.records, key)
		return kept{}, false
	}
	return k, ok
}

// Touch implements Store.
func (m *Memory) Touch(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.live(key)
	if ok {
		k.until = time.Now().Add(ttl)
		m.records[key] = k
	}
	return ok, nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
	return nil
}
