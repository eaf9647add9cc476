package upstream

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Backoff spaces attempts that fail one after another. The zero value with its
// two clocks set is ready. All methods may be called concurrently.
type Backoff struct {
	// First is the pause after the first failure; it doubles up to Most.
	First, Most time.Duration

	mu       sync.Mutex
	failures int
	until    time.Time
}

// Failed notes a failure.
func (b *Backoff) Failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := min(b.First<<min(b.failures, 16), b.Most)
	b.failures++
	b.until = time.Now().Add(d + rand.N(d/5+1))
}

// Worked forgets earlier failures.
func (b *Backoff) Worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.until = 0, time.Time{}
}

// Wait is how long to wait before the next attempt.
func (b *Backoff) Wait() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.until))
}
