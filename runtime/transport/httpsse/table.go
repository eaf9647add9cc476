package httpsse

import "sync"

// table holds the open connections by key.
type table struct {
	mu    sync.Mutex
	conns map[string]*connection
	owner map[string]int // bucket → connections
}

// add enters a connection, unless there are most already, or mostOf of its
// bucket (0: no bound).
func (t *table) add(c *connection, most, mostOf int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.conns) >= most || mostOf > 0 && t.owner[c.bucket] >= mostOf {
		return false
	}
	if t.conns == nil {
		t.conns, t.owner = map[string]*connection{}, map[string]int{}
	}
	t.conns[c.key] = c
	t.owner[c.bucket]++
	return true
}

func (t *table) remove(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c.key)
	if t.owner[c.bucket]--; t.owner[c.bucket] == 0 {
		delete(t.owner, c.bucket)
	}
}

func (t *table) get(key string) *connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.conns[key]
}

func (t *table) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.conns)
}

func (t *table) all() []*connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*connection, 0, len(t.conns))
	for _, c := range t.conns {
		out = append(out, c)
	}
	return out
}
