package oidc

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// maxRemembered is the longest token that is remembered; longer ones are rare
// and would make the bound on entries mean little.
const maxRemembered = 4 << 10

// memory remembers tokens whose signature was verified, by their digest, so that
// a client that calls often costs one verification. What was found counts as
// long as the issuer's keys are those it was found with, and the token lasts.
// Only good tokens are remembered: nobody else can fill it.
type memory struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]remembered
	order   [][sha256.Size]byte // a ring of the keys, oldest at next
	next    int
}

type remembered struct {
	id         *auth.Identity
	generation uint64 // of the keys
}

// newMemory makes one with a bound; nil for none, which remembers nothing.
func newMemory(entries int) *memory {
	if entries <= 0 {
		return nil
	}
	return &memory{entries: map[[sha256.Size]byte]remembered{}, order: make([][sha256.Size]byte, entries)}
}

func (m *memory) get(token string, generation uint64, now time.Time) *auth.Identity {
	if m == nil || len(token) > maxRemembered {
		return nil
	}
	sum := sha256.Sum256([]byte(token))
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.entries[sum]
	if !ok || known.generation != generation || known.id.Expired(now) {
		return nil
	}
	return known.id
}

// put remembers a token; the oldest makes room.
func (m *memory) put(token string, generation uint64, id *auth.Identity) {
	if m == nil || len(token) > maxRemembered {
		return
	}
	sum := sha256.Sum256([]byte(token))
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, again := m.entries[sum]; !again {
		delete(m.entries, m.order[m.next])
		m.order[m.next] = sum
		m.next = (m.next + 1) % len(m.order)
	}
	m.entries[sum] = remembered{id, generation}
}
