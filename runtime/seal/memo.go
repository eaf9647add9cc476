package seal

import "sync"

// memoSessions is half of how many session ids a ring remembers.
const memoSessions = 1024

// memo remembers session ids that have been opened, because each comes with
// every request of its session. It belongs to one ring, so that what it knows
// goes with the keys. Only what was sealed here gets in: whoever makes ids up
// cannot fill it. When the young ones are many, the old ones are forgotten.
type memo struct {
	mu         sync.RWMutex
	young, old map[string]opened
}

// opened is a session id with whose it is.
type opened struct {
	session   Session
	principal string
}

func (m *memo) find(token string) (o opened, ok bool) {
	m.mu.RLock()
	if o, ok = m.young[token]; ok {
		m.mu.RUnlock()
		return o, true
	}
	o, ok = m.old[token]
	m.mu.RUnlock()
	if ok {
		m.keep(token, o)
	}
	return o, ok
}

func (m *memo) keep(token string, o opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= memoSessions {
		m.old, m.young = m.young, nil
	}
	if m.young == nil {
		m.young = make(map[string]opened)
	}
	m.young[token] = o
}
