package client

import "sync"

// What may be wrong with a connection that stands.
const (
	troubleReach  = "reach"  // requests do not get there
	troubleListen = "listen" // a stream for the server's own messages is broken
)

// mover keeps the state of a connection and tells each change, in order.
type mover struct {
	told func(Change) // may be nil

	telling sync.Mutex // held while a change is told, so that order holds
	mu      sync.Mutex
	now     State
	begun   bool
	wrong   map[string]bool
}

func (m *mover) state() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// to changes the state; Closed is the last. A new connection has no troubles.
func (m *mover) to(ch Change) {
	m.telling.Lock()
	defer m.telling.Unlock()
	m.mu.Lock()
	if m.begun && m.now == Closed {
		m.mu.Unlock()
		return
	}
	ch.Before, m.now, m.begun, m.wrong = m.now, ch.State, true, nil
	m.mu.Unlock()
	if m.told != nil {
		m.told(ch)
	}
}

// ill notes a trouble of a connection that stands.
func (m *mover) ill(trouble, reason string, err error) {
	m.set(trouble, true, Change{State: Degraded, Reason: reason, Err: err})
}

// well takes a trouble back.
func (m *mover) well(trouble string) {
	m.set(trouble, false, Change{State: Connected, Reason: "connected"})
}

func (m *mover) set(trouble string, wrong bool, ch Change) {
	m.mu.Lock()
	same := m.wrong[trouble] == wrong
	m.mu.Unlock()
	if same {
		return // the usual case, without waiting for whoever is told
	}
	m.telling.Lock()
	defer m.telling.Unlock()
	m.mu.Lock()
	if m.now != Connected && m.now != Degraded || m.wrong[trouble] == wrong {
		m.mu.Unlock()
		return
	}
	if wrong {
		if m.wrong == nil {
			m.wrong = map[string]bool{}
		}
		m.wrong[trouble] = true
	} else {
		delete(m.wrong, trouble)
	}
	if len(m.wrong) > 0 {
		ch.State = Degraded
	}
	if ch.State == m.now {
		m.mu.Unlock()
		return
	}
	ch.Before, m.now = m.now, ch.State
	m.mu.Unlock()
	if m.told != nil {
		m.told(ch)
	}
}
