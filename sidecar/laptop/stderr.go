package laptop

import (
	"bytes"
	"io"
	"sync"
)

// keptBytes bounds what is kept of the workload's stderr before it is ready.
const keptBytes = 32 << 10

// stderr holds the workload's stderr back until it is known how its start went:
// a failure is told with the last lines, a success shows all of them. What
// exceeds keptBytes is dropped from the front.
type stderr struct {
	to io.Writer

	mu   sync.Mutex
	open bool
	kept []byte
}

// Write implements io.Writer; it never fails.
func (s *stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		_, _ = s.to.Write(p) // a terminal that is gone is no reason to stop
		return len(p), nil
	}
	s.kept = append(s.kept, p...)
	if over := len(s.kept) - keptBytes; over > 0 {
		s.kept = append(s.kept[:0], s.kept[over:]...)
	}
	return len(p), nil
}

// release shows what was kept and everything from now on.
func (s *stderr) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return
	}
	s.open = true
	_, _ = s.to.Write(s.kept)
	s.kept = nil
}

// last is up to n of the lines that were kept, without the mark of the process
// before each.
func (s *stderr) last(n int) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range bytes.Lines(s.kept) {
		line = bytes.TrimRight(line, "\n")
		if i := bytes.Index(line, []byte("] ")); i > 0 && line[0] == '[' {
			line = line[i+2:]
		}
		lines = append(lines, string(line))
	}
	return lines[max(0, len(lines)-n):]
}
