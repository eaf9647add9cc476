package observe

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxPerSecond bounds lines that a client or the workload can cause: the first
// ones say as much as all of them.
const maxPerSecond = 20

// rate admits maxPerSecond lines a second. The zero value is ready.
type rate struct {
	mu      sync.Mutex
	window  time.Time // start of the second that is counted
	written int
	skipped int
}

// admit counts a line and tells how many were left out before it.
func (r *rate) admit(now time.Time) (skipped int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.window) >= time.Second {
		r.window, r.written = now, 0
	}
	if r.written == maxPerSecond {
		r.skipped++
		return 0, false
	}
	r.written++
	skipped, r.skipped = r.skipped, 0
	return skipped, true
}

// Limited is a logger for what the workload causes: at WARN, and not more
// lines a second than help. Make it with NewLimited.
type Limited struct {
	log  *slog.Logger
	rate rate
}

// NewLimited returns a Limited that writes to log.
func NewLimited(log *slog.Logger) *Limited { return &Limited{log: log} }

// Warn writes one line, or counts it as skipped.
func (l *Limited) Warn(text string, attrs ...slog.Attr) {
	skipped, ok := l.rate.admit(time.Now())
	if !ok {
		return
	}
	if skipped > 0 {
		attrs = append(attrs, slog.Int("skipped", skipped))
	}
	l.log.LogAttrs(context.Background(), slog.LevelWarn, text, attrs...)
}
