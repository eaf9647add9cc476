package task

import "sync"

// Notifier wakes those who wait for a record to change. It carries no data and
// makes no promise: a wake may come for nothing, and one that is lost is made
// up for by looking again. All methods may be called concurrently.
type Notifier interface {
	// Wake tells everybody who watches the key. It must not block.
	Wake(key string)
	// Watch begins to listen. The channel holds one wake; more of them are the
	// same. stop ends it and must be called.
	Watch(key string) (wake <-chan struct{}, stop func())
}

// Local is the Notifier of one process. The zero value is ready.
type Local struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]struct{}
}

var _ Notifier = (*Local)(nil)

// Wake implements Notifier.
func (l *Local) Wake(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.watchers[key] {
		select {
		case c <- struct{}{}:
		default: // one is waiting already
		}
	}
}

// Watch implements Notifier.
func (l *Local) Watch(key string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watchers == nil {
		l.watchers = map[string]map[chan struct{}]struct{}{}
	}
	if l.watchers[key] == nil {
		l.watchers[key] = map[chan struct{}]struct{}{}
	}
	l.watchers[key][c] = struct{}{}
	return c, func() { l.forget(key, c) }
}

func (l *Local) forget(key string, c chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watchers[key], c)
	if len(l.watchers[key]) == 0 {
		delete(l.watchers, key)
	}
}
