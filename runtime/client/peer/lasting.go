package peer

// maxLasting bounds calls whose token outlives their answer; more are not kept.
const maxLasting = 1024

// last keeps the token of a call that has its answer.
func (p *Peer) last(c *Call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil || len(p.lasting) >= maxLasting {
		return false
	}
	if p.lasting == nil {
		p.lasting = map[int64]*Call{}
	}
	p.lasting[c.id] = c
	c.keeper, c.given, c.gone = p, nil, nil // it waits no more
	c.lasts.Store(true)
	return true
}

// Release is Peer.Release for whoever does not know the Peer.
func (c *Call) Release() {
	if c.keeper != nil {
		c.keeper.Release(c)
	}
}

// Release ends what Request.Lasting began; it is idempotent.
func (p *Peer) Release(c *Call) {
	c.lasts.Store(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lasting, c.id)
}

// lastingByID is the call with an id of ours whose token is still good.
func (p *Peer) lastingByID(raw []byte) *Call {
	id, _, ok := ourID(string(raw))
	if !ok {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lasting[id]
}
