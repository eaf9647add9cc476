package task

// Watched is how many keys are watched.
func (l *Local) Watched() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.watchers)
}
