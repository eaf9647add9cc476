package stream

import (
	"container/list"
	"context"
	"slices"
	"sync"
)

// Events keeps what was sent on streams with ids, so that a client can resume
// one whose process is gone (W9.9, D10). All methods may be called concurrently,
// honour ctx, and return an error only when the store could not be asked or has
// no room: that something is not there is none.
//
// Stream's own ring serves resumes within a process. An implementation of
// Events serves those beyond it, behind the same bounds.
type Events interface {
	// Append adds an event to the stream with the handle, which begins with
	// its first. Sequence numbers rise but may skip; an event whose number is
	// not above the last one is there already and ignored. At the bounds of
	// Limits the oldest events of the stream go. The error may be ErrFull.
	Append(ctx context.Context, handle string, e Event) error
	// After returns the events above a sequence number, oldest first. ok is
	// false when there is no such stream, or when some of those events have
	// gone: then nothing can be resumed (P2).
	After(ctx context.Context, handle string, seq uint64) (events []Event, ok bool, err error)
	// Drop forgets a stream, if there is one.
	Drop(ctx context.Context, handle string) error
}

// Memory is an Events in this process. Limits.Events and Bytes bound each
// stream, Limits.Retained the streams, Budget the bytes of all; at the last two
// the stream goes that was appended to longest ago. Set the fields before use.
type Memory struct {
	Limits Limits
	// Budget may be shared; nil means one of its own.
	Budget *Budget

	once    sync.Once
	limits  Limits
	mu      sync.Mutex
	streams map[string]*list.Element // of *history
	order   list.List                // of *history, appended to longest ago first
}

var _ Events = (*Memory)(nil)

type history struct {
	ring
	handle string
	last   uint64
}

func (m *Memory) init() {
	m.once.Do(func() {
		m.limits = m.Limits.withDefaults()
		m.streams = map[string]*list.Element{}
		if m.Budget == nil {
			m.Budget = &Budget{}
		}
	})
}

// Append implements Events.
func (m *Memory) Append(ctx context.Context, handle string, e Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.init()
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.streams[handle]
	if at != nil && e.Seq <= at.Value.(*history).last {
		return nil
	}
	if at == nil {
		if len(m.streams) >= m.limits.Retained {
			m.forget(m.order.Front())
		}
		at = m.order.PushBack(&history{handle: handle})
		m.streams[handle] = at
	}
	m.order.MoveToBack(at)
	h := at.Value.(*history)
	for !m.Budget.TryAcquire(e.cost()) {
		oldest := m.order.Front()
		if oldest == at {
			m.forget(at) // with a gap it is worth nothing
			return ErrFull
		}
		m.forget(oldest)
	}
	e.Data = slices.Clone(e.Data)
	h.add(e, e.cost())
	h.last = e.Seq
	for h.over(&m.limits) {
		_, cost := h.pop()
		m.Budget.Release(cost)
	}
	return nil
}

// After implements Events.
func (m *Memory) After(ctx context.Context, handle string, seq uint64) ([]Event, bool, error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	m.init()
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.streams[handle]
	if at == nil {
		return nil, false, nil
	}
	h := at.Value.(*history)
	if seq < h.evicted {
		return nil, false, nil
	}
	from := slices.IndexFunc(h.events, func(e Event) bool { return e.Seq > seq })
	if from < 0 {
		return nil, true, nil
	}
	return slices.Clone(h.events[from:]), true, nil
}

// Drop implements Events.
func (m *Memory) Drop(ctx context.Context, handle string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.init()
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.streams[handle]; at != nil {
		m.forget(at)
	}
	return nil
}

// forget drops a stream; m.mu is held.
func (m *Memory) forget(at *list.Element) {
	h := m.order.Remove(at).(*history)
	delete(m.streams, h.handle)
	m.Budget.Release(h.bytes)
}
