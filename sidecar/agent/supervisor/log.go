package supervisor

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// logQueue bounds the lines that wait for the container's log. With
// maxLogLine each, 2 MiB.
const logQueue = 256

// Log is the container's log: one writer goroutine, and callers that never
// wait for it. What does not fit is dropped and counted.
type Log struct {
	lines   chan string
	dropped atomic.Int64
	done    chan struct{}
}

// NewLog writes to w, which may block, until Close.
func NewLog(w io.Writer) *Log {
	l := &Log{lines: make(chan string, logQueue), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.lines {
			if n := l.dropped.Swap(0); n > 0 {
				fmt.Fprintf(w, "mcp-agent: %d lines dropped: the container's log does not keep up\n", n)
			}
			io.WriteString(w, line)
		}
	}()
	return l
}

// Printf logs a line of the agent's own.
func (l *Log) Printf(format string, args ...any) {
	l.put("mcp-agent: " + fmt.Sprintf(format, args...) + "\n")
}

// put queues a line with its newline, or drops it.
func (l *Log) put(line string) {
	select {
	case l.lines <- line:
	default:
		l.dropped.Add(1)
	}
}

// Close waits until everything is written, at most for grace. Nothing may be
// logged after it.
func (l *Log) Close(grace time.Duration) {
	close(l.lines)
	select {
	case <-l.done:
	case <-time.After(grace):
	}
}
