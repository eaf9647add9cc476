package seal

import "sync"

// memoSessions is half of how many session ids a ring remembers.
const memoSessions = 1024

// memo remembers session ids that have been opened, because each comes with
// every request of its session. It belongs to one ring, so that what it knows
// goes with the keys. Only what was sealed here gets in: whoever makes ids up
// cannot fill it. An id is forgotten with its session; when the young ones are
// many all the same, the old ones are.
type memo struct {
	mu         sync.RWMutex
	young, old generation
}

// generation is what was used at about the same time.
type generation struct {
	opened map[string]opened // by id
	ids    map[Random]string
}

// opened is a session id with whose it is.
type opened struct {
	session   Session
	principal string
}

func (m *memo) find(token string) (o opened, ok bool) {
	m.mu.RLock()
	if o, ok = m.young.opened[token]; ok {
		m.mu.RUnlock()
		return o, true
	}
	o, ok = m.old.opened[token]
	m.mu.RUnlock()
	if ok {
		m.keep(token, o)
	}
	return o, ok
}

func (m *memo) keep(token string, o opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.old.forget(o.session.Random)
	if len(m.young.ids) >= memoSessions {
		m.old, m.young = m.young, generation{}
	}
	if m.young.ids == nil {
		m.young = generation{opened: map[string]opened{}, ids: map[Random]string{}}
	}
	m.young.forget(o.session.Random) // it may have another id, of another key
	m.young.opened[token], m.young.ids[o.session.Random] = o, token
}

func (m *memo) forget(session Random) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.young.forget(session)
	m.old.forget(session)
}

func (m *memo) len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.young.ids) + len(m.old.ids)
}

func (g *generation) forget(session Random) {
	if id, ok := g.ids[session]; ok {
		delete(g.ids, session)
		delete(g.opened, id)
	}
}
