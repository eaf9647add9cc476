package load

import (
	"context"
	"sync"
)

// pool keeps the idle connections of one client. Its size is bounded by the
// client's requests in flight. Safe for concurrent use.
type pool struct {
	addr string

	mu   sync.Mutex
	idle []*conn
}

// get returns an idle connection that is still open, or a new one.
func (p *pool) get(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if !c.isDead() {
			p.mu.Unlock()
			return c, nil
		}
	}
	p.mu.Unlock()
	return dial(ctx, p.addr)
}

func (p *pool) put(c *conn) {
	if c.isDead() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}
