package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind is a kind of things that a server has.
type Kind string

// The kinds.
const (
	KindTool     Kind = "tool"
	KindPrompt   Kind = "prompt"
	KindResource Kind = "resource"
	KindTemplate Kind = "resource template"
)

// Errors of registration.
var (
	ErrDuplicate = errors.New("there is one of this name already")
	ErrName      = errors.New("no legal name")
)

// registry holds items by key and gives them in the order of their keys, so
// that lists are the same every time (W24.3). The zero value is empty.
type registry[T any] struct {
	mu    sync.RWMutex
	byKey map[string]*T
	order []item[T] // nil when it has to be made again
}

type item[T any] struct {
	key   string
	value *T
}

func (r *registry[T]) add(key string, value *T) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.byKey[key]; there {
		return fmt.Errorf("%q: %w", key, ErrDuplicate)
	}
	if r.byKey == nil {
		r.byKey = map[string]*T{}
	}
	r.byKey[key] = value
	r.order = nil
	return nil
}

// remove takes items out and returns those that were there.
func (r *registry[T]) remove(keys ...string) []*T {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*T
	for _, key := range keys {
		if value, there := r.byKey[key]; there {
			delete(r.byKey, key)
			out = append(out, value)
		}
	}
	if out != nil {
		r.order = nil
	}
	return out
}

func (r *registry[T]) get(key string) *T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byKey[key]
}

// all returns the items in order; the slice is shared and read-only.
func (r *registry[T]) all() []item[T] {
	r.mu.RLock()
	order, n := r.order, len(r.byKey)
	r.mu.RUnlock()
	if order != nil || n == 0 {
		return order
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil {
		r.order = make([]item[T], 0, len(r.byKey))
		for key, value := range r.byKey {
			r.order = append(r.order, item[T]{key, value})
		}
		slices.SortFunc(r.order, func(a, b item[T]) int { return strings.Compare(a.key, b.key) })
	}
	return r.order
}

// after returns the items whose keys are greater.
func after[T any](items []item[T], key string) []item[T] {
	i, found := slices.BinarySearchFunc(items, key, func(it item[T], key string) int { return strings.Compare(it.key, key) })
	if found {
		i++
	}
	return items[i:]
}
