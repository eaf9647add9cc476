package task

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// DefaultMemoryBytes is how much a Memory keeps.
const DefaultMemoryBytes = 256 << 20

// Memory is a Store that lives and dies with its process. The zero value is
// ready.
type Memory struct {
	// MaxBytes bounds all records together; 0 means DefaultMemoryBytes. Set
	// before the first use.
	MaxBytes int64

	mu      sync.Mutex
	records map[string]*Record
	owners  map[string]map[string]*Record
	bytes   int64
}

var _ Store = (*Memory)(nil)

// Create implements Store.
func (m *Memory) Create(ctx context.Context, r Record, b Bounds) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	mine := m.owners[r.Owner]
	switch {
	case m.records[r.Key] != nil:
		return ErrExists
	case b.PerOwner > 0 && len(mine) >= b.PerOwner:
		return ErrOwnerFull
	case b.Total > 0 && len(m.records) >= b.Total, !m.fits(int64(r.Size())):
		return ErrFull
	}
	if m.records == nil {
		m.records = map[string]*Record{}
		m.owners = map[string]map[string]*Record{}
	}
	if mine == nil {
		mine = map[string]*Record{}
		m.owners[r.Owner] = mine
	}
	r.Version = 1
	m.records[r.Key], mine[r.Key] = &r, &r
	m.bytes += int64(r.Size())
	return nil
}

func (m *Memory) fits(more int64) bool {
	most := m.MaxBytes
	if most <= 0 {
		most = DefaultMemoryBytes
	}
	return more <= 0 || m.bytes+more <= most
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil {
		return Record{}, ErrNotFound
	}
	return *r, nil
}

// find returns the record of that version; m.mu is held.
func (m *Memory) find(key string, version uint64) (*Record, error) {
	r := m.records[key]
	switch {
	case r == nil:
		return nil, ErrNotFound
	case r.Version != version:
		return nil, ErrConflict
	}
	return r, nil
}

// Update implements Store. Owner and Key of a record cannot be changed.
func (m *Memory) Update(ctx context.Context, r Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, err := m.find(r.Key, r.Version)
	if err != nil {
		return err
	}
	more := int64(r.Size() - old.Size())
	if !m.fits(more) {
		return ErrFull
	}
	m.bytes += more
	r.Owner = old.Owner
	r.Version++
	*old = r
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, key string, version uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.find(key, version)
	if err != nil {
		return err
	}
	m.bytes -= int64(r.Size())
	delete(m.records, key)
	delete(m.owners[r.Owner], key)
	if len(m.owners[r.Owner]) == 0 {
		delete(m.owners, r.Owner)
	}
	return nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, owner string, after Position, n int) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Record
	for _, r := range m.owners[owner] {
		if after.Before(r) {
			out = append(out, r.Head())
		}
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Key, b.Key))
	})
	return out[:min(n, len(out))], nil
}

// Due implements Store. It looks at every record: a sweep of ten thousand
// takes less than a millisecond, twice a minute.
func (m *Memory) Due(ctx context.Context, now time.Time, n int) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Record
	for _, r := range m.records {
		if !r.Due().After(now) {
			out = append(out, r.Head())
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return a.Due().Compare(b.Due()) })
	return out[:min(n, len(out))], nil
}
