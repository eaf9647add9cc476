package supervisor

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// Bounds of one process's stderr. A line over maxLogLine is cut; lines over
// the rates are dropped from the log, counted there, and still reach the tail.
// 100 lines a second is the rule (E3); the bytes keep a flood of long lines
// under 4 MB in 30 s.
const (
	maxLogLine     = 8 << 10
	linesPerSecond = 100
	bytesPerSecond = 100 << 10
	burstBytes     = 512 << 10
	// floodPause follows each read while lines are dropped, so that a flood
	// costs the writer its time and not us ours: at most 1.3 MB/s are read.
	floodPause = 50 * time.Millisecond
	readSize   = 64 << 10
	// The tail must fit a report line: 20 × 400 bytes.
	tailLines   = 20
	maxTailLine = 400
	// prefixLength is how much of the key stands before each line.
	prefixLength = 8
)

// stderr carries one process's stderr to the log and remembers its last lines.
type stderr struct {
	log    *Log
	prefix string
	lines  bucket
	bytes  bucket

	part    []byte // of a line whose end has not come, at most maxLogLine
	cut     int    // bytes of that line beyond
	dropped int64  // lines since the last one that was logged
	tail    []string
}

func newStderr(log *Log, key string) *stderr {
	return &stderr{
		log:    log,
		prefix: "[" + key[:min(len(key), prefixLength)] + "] ",
		lines:  newBucket(linesPerSecond, linesPerSecond),
		bytes:  newBucket(bytesPerSecond, burstBytes),
	}
}

// copy reads r to its end. ended is closed when the process is over; what is
// left in the pipe is then read without pauses.
func (s *stderr) copy(r io.Reader, ended <-chan struct{}) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		s.write(buf[:n], time.Now())
		if err != nil {
			s.finish(time.Now())
			return
		}
		if s.dropped > 0 {
			select {
			case <-ended:
			case <-time.After(floodPause):
			}
		}
	}
}

func (s *stderr) write(p []byte, now time.Time) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			return
		}
		s.keep(p[:i])
		s.line(now)
		p = p[i+1:]
	}
}

// keep adds to the current line up to its bound.
func (s *stderr) keep(p []byte) {
	room := min(len(p), maxLogLine-len(s.part))
	s.part = append(s.part, p[:room]...)
	s.cut += len(p) - room
}

// line ends the current line.
func (s *stderr) line(now time.Time) {
	text := printable(bytes.TrimSuffix(s.part, []byte("\r")))
	if s.cut > 0 {
		text += fmt.Sprintf("… (%d bytes cut)", s.cut)
	}
	s.part, s.cut = s.part[:0], 0
	if text == "" {
		return
	}
	s.remember(text)
	if !s.lines.take(1, now) || !s.bytes.take(float64(len(text)), now) {
		s.dropped++
		return
	}
	s.confess()
	s.log.put(s.prefix + text + "\n")
}

// confess tells how many lines are missing.
func (s *stderr) confess() {
	if s.dropped > 0 {
		s.log.put(fmt.Sprintf("%s… (%d lines dropped, over %d lines or %d KiB a second)\n",
			s.prefix, s.dropped, linesPerSecond, bytesPerSecond>>10))
		s.dropped = 0
	}
}

func (s *stderr) finish(now time.Time) {
	if len(s.part) > 0 {
		s.line(now)
	}
	s.confess()
}

func (s *stderr) remember(text string) {
	if len(text) > maxTailLine {
		text = strings.ToValidUTF8(text[:maxTailLine-len("…")], "") + "…"
	}
	if len(s.tail) == tailLines {
		s.tail = append(s.tail[:0], s.tail[1:]...)
	}
	s.tail = append(s.tail, strings.Clone(text))
}
