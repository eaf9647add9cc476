package proxy

// Remembered is how many entries there are of what is kept because it is likely
// to be wanted again, by what it is. Each kind has a bound, and a client that
// fills it makes others slower and nothing else.
func (p *Proxy) Remembered() map[string]int {
	return map[string]int{
		"discover_answers":   p.found.len(),
		"initialize_answers": p.parking.inits.len(),
		"call_habits":        p.parking.habits.len(),
		"tool_lists":         p.tools.len(),
		"page_visits":        p.parking.outings.len(),
	}
}

func (d *discovery) len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.kept)
}

func (c *initCache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.by)
}

func (h *habits) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.silent) + len(h.mixed)
}

func (b *toolbox) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sets)
}

func (o *outings) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.out)
}
