package oidc

// Remembered is how many tokens a Checker remembers.
func Remembered(c *Checker) int {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	return len(c.memory.entries)
}
