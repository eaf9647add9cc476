package stream

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// DefaultBudget is the bytes that one process buffers (R22).
const DefaultBudget = 256 << 20

// ErrTooLarge: more was asked for than the whole budget.
var ErrTooLarge = errors.New("larger than the budget of buffered bytes")

// Budget bounds the bytes that are buffered in one process, bodies and streams
// together (P18). The zero value has DefaultBudget. All methods may be called
// concurrently.
type Budget struct {
	// Max is the bound; zero means DefaultBudget. Set before use.
	Max int64
	// Observer is told each change.
	Observer *hook.Observer

	mu      sync.Mutex
	used    int64
	waiters list.List // of *waiter, first come first served
	large   *Budget   // what large takers hold of it together; nil until there is one
	waiting *Budget   // what Waiting ones hold of it together; the same
}

type waiter struct {
	n     int64
	ready chan struct{}
}

func (b *Budget) limit() int64 {
	if b.Max > 0 {
		return b.Max
	}
	return DefaultBudget
}

// Used returns the bytes that are held now.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// TryAcquire takes n bytes if they are free now. It does not queue behind
// Acquire: what is sent frees memory, what is admitted takes it.
func (b *Budget) TryAcquire(n int64) bool {
	b.mu.Lock()
	ok := b.used+n <= b.limit()
	if ok {
		b.used += n
	}
	b.mu.Unlock()
	if ok {
		b.Observer.Buffer(n)
	}
	return ok
}

// AcquireNow is Acquire that takes n bytes only if nobody waits and they are
// free.
func (b *Budget) AcquireNow(n int64) bool {
	b.mu.Lock()
	ok := b.waiters.Len() == 0 && b.used+n <= b.limit()
	if ok {
		b.used += n
	}
	b.mu.Unlock()
	if ok {
		b.Observer.Buffer(n)
	}
	return ok
}

// Acquire takes n bytes, waiting its turn until they are free or ctx ends. The
// error is ErrTooLarge or ctx's cause.
func (b *Budget) Acquire(ctx context.Context, n int64) error {
	if b.AcquireNow(n) {
		return nil
	}
	b.mu.Lock()
	if n > b.limit() {
		b.mu.Unlock()
		return ErrTooLarge
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	at := b.waiters.PushBack(w)
	b.grant() // what was given back meanwhile
	b.mu.Unlock()
	select {
	case <-w.ready:
		b.Observer.Buffer(n)
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.ready: // granted in the same moment: give it back
		b.used -= n
	default:
		b.waiters.Remove(at)
	}
	b.grant()
	return context.Cause(ctx)
}

// Release gives n bytes back.
func (b *Budget) Release(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	b.grant()
	b.mu.Unlock()
	b.Observer.Buffer(-n)
}

// grant lets waiters in as far as there is room; b.mu is held.
func (b *Budget) grant() {
	for front := b.waiters.Front(); front != nil; front = b.waiters.Front() {
		w := front.Value.(*waiter)
		if b.used+w.n > b.limit() {
			return
		}
		b.used += w.n
		b.waiters.Remove(front)
		close(w.ready)
	}
}
