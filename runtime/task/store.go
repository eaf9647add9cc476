package task

import (
	"context"
	"errors"
	"time"
)

// Store keeps the records of tasks. It is the only truth about them; package
// tasktest says in tests what is expected of one. All methods may be called
// concurrently, by several processes if the store is shared. None waits for
// anything but the store itself, and each ends with ctx.
//
// Errors other than those named mean that the store cannot be used now; the
// Engine tells clients so instead of "unknown task" (ops: store down).
type Store interface {
	// Create puts a new record, with Version 1, if the bounds allow it. It has
	// been kept as well as the store keeps anything when Create returns: a
	// client is told of a task only then (W36.8). Errors: ErrExists,
	// ErrOwnerFull, ErrFull.
	Create(ctx context.Context, r Record, b Bounds) error
	// Get returns a record. Error: ErrNotFound.
	Get(ctx context.Context, key string) (Record, error)
	// Update replaces the record r.Key if its version is still r.Version, and
	// gives it the next one. Errors: ErrNotFound, ErrConflict, ErrFull when
	// the store cannot take a record of that size.
	Update(ctx context.Context, r Record) error
	// Delete removes a record if its version is still that one. Errors:
	// ErrNotFound, ErrConflict.
	Delete(ctx context.Context, key string, version uint64) error
	// List returns the Heads of an owner's records in the order of Created,
	// then Key, from after the position on, at most n.
	List(ctx context.Context, owner string, after Position, n int) ([]Record, error)
	// Due returns Heads of records whose Due is not after now, earliest first,
	// at most n.
	Due(ctx context.Context, now time.Time, n int) ([]Record, error)
}

// Bounds are what a Store enforces when it takes a new record. Zero means no
// bound. Records count until they are deleted, whatever their status.
type Bounds struct {
	PerOwner, Total int
}

// Position is a place in a list; the zero value is its beginning.
type Position struct {
	Created time.Time
	Key     string
}

// Before reports whether the record comes after the position.
func (p Position) Before(r *Record) bool {
	if p.Key == "" {
		return true
	}
	if c := p.Created.Compare(r.Created); c != 0 {
		return c < 0
	}
	return p.Key < r.Key
}

// Errors of a Store.
var (
	ErrNotFound  = errors.New("no such record")
	ErrExists    = errors.New("the record exists")
	ErrConflict  = errors.New("the record has changed")
	ErrOwnerFull = errors.New("too many tasks of this principal")
	ErrFull      = errors.New("too many tasks")
)
