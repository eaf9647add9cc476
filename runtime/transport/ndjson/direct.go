package ndjson

import (
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// direct writes lines in the place of a writer that has nothing to do, without
// waiting: nearly always the pipe has room, and then a message needs nobody to
// be woken for it. It belongs to who has claimed the queue.
type direct struct {
	raw  syscall.RawConn // nil: what is written to may make one wait
	try  func(fd uintptr) bool
	line []byte
	n    int
}

// maxDirect is the largest line that is written so.
const maxDirect = 16 << 10

// newDirect makes the direct way to dst, if there is one: a descriptor that
// knows deadlines does not block.
func newDirect(dst any) *direct {
	d := &direct{}
	conn, ok := dst.(syscall.Conn)
	if limited, bounded := dst.(deadliner); !ok || !bounded || limited.SetWriteDeadline(time.Time{}) != nil {
		return d
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return d
	}
	d.raw = raw
	d.try = func(fd uintptr) bool {
		n, err := writeNow(fd, d.line)
		if err == nil {
			d.n = n
		}
		return true
	}
	return d
}

// write writes what there is room for of msg as a line, and returns the rest.
// Whatever goes wrong is found again by who writes the rest.
func (d *direct) write(msg []byte) (rest []byte) {
	d.line = append(append(d.line[:0], strictjson.OneLine(msg)...), '\n') // P9
	d.n = 0
	_ = d.raw.Write(d.try)
	return d.line[d.n:]
}

// sendNow sends a message past the queue, if nothing is in the way and there is
// room in the pipe for some of it. It does not wait.
func (c *Conn) sendNow(msg []byte) bool {
	if c.direct.raw == nil || len(msg) >= maxDirect || !c.out.Claim() {
		return false
	}
	rest := c.direct.write(msg)
	if len(rest) > 0 {
		c.rest = append(c.rest[:0], rest...)
	}
	c.out.Yield(len(rest) > 0)
	return true
}
