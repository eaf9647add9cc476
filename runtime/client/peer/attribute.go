package peer

// owner finds the call that a request of the server belongs to, first match
// wins (B6.1): the stream it came on; else the one call in flight that may
// cause such requests; else none.
func (p *Peer) owner(via *Call) *Call {
	if via != nil {
		return via
	}
	return p.sole(func(c *Call) bool { return mayAsk(c.method) })
}

// mayAsk lists the methods during which a server may ask the client (B6.1,
// B12.10).
func mayAsk(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "tasks/result":
		return true
	}
	return false
}

// sole returns the only call in flight that fits, or nil.
func (p *Peer) sole(fits func(*Call) bool) *Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *Call
	for _, c := range p.pending {
		if !fits(c) {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}
