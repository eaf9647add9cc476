package relay

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxUnsent bounds what waits for a peer that does not read: the window of the
// stream, and lines and credits beside it.
const maxUnsent = Window + 192<<10

// ErrStalled ends a connection whose peer has stopped reading.
var ErrStalled = errors.New("relay: the peer does not read its socket")

// WriteLine sends a control line, without a newline. It does not wait; an
// error is that of a connection that has ended, or ends with this.
func (c *Conn) WriteLine(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.post(kindLine, line)
	c.flush()
	if c.err == nil && c.mute {
		return unix.EPIPE
	}
	return c.err
}

// Flush returns when all is with the kernel, or nothing more will be.
func (c *Conn) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.unsent > 0 {
		c.idle.Wait()
	}
}

// Close ends the connection once all is with the kernel, which it does not
// wait for.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	c.sent(0)
	return nil
}

// post adds a frame. mu is held, and flush has to follow.
func (c *Conn) post(k kind, body []byte) {
	if c.mute || c.closing {
		return
	}
	if c.unsent+header+len(body) > maxUnsent {
		c.failed(ErrStalled)
		return
	}
	c.out = append(appendHeader(c.out, k, len(body)), body...)
	c.unsent += header + len(body)
}

func (c *Conn) postCredit(n int) {
	var body [4]byte
	binary.BigEndian.PutUint32(body[:], uint32(n))
	c.post(kindCredit, body[:])
}

// flush sends what was posted as far as the kernel takes it at once; the rest
// is left to a goroutine of its own, so that no caller waits. mu is held, and
// let go meanwhile.
func (c *Conn) flush() {
	for !c.writing && len(c.out) > 0 {
		batch := c.take()
		c.mu.Unlock()
		n, err := c.now.Write(batch)
		c.mu.Lock()
		c.sent(n)
		if err != nil {
			c.unsendable(err)
		} else if n < len(batch) {
			go c.drain(batch, n)
			return
		}
		c.give(batch)
	}
}

// take makes the caller the one that writes. mu is held, as in the next two.
func (c *Conn) take() []byte {
	batch := c.out
	c.out, c.spare = c.spare[:0], nil
	c.writing = true
	return batch
}

// give ends what take began.
func (c *Conn) give(batch []byte) {
	c.writing = false
	if !c.mute {
		c.spare = batch[:0]
	}
}

// sent counts what the kernel has taken.
func (c *Conn) sent(n int) {
	if !c.mute {
		c.unsent -= n
	}
	if c.unsent > 0 {
		return
	}
	c.idle.Broadcast()
	if c.closing {
		c.failed(net.ErrClosed)
	}
}

// unsendable gives up sending. A peer that has hung up may have said why
// before, so that is still read.
func (c *Conn) unsendable(cause error) {
	if errors.Is(cause, os.ErrDeadlineExceeded) {
		c.failed(ErrStalled)
		return
	}
	c.out, c.spare = nil, nil
	c.unsent, c.mute = 0, true
	c.Out.wake.Broadcast()
	c.sent(0)
}

// Nonblocking writes what a descriptor takes at once, again and again without
// an allocation. For one goroutine at a time.
type Nonblocking struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool
	p    []byte
	n    int
	err  error
}

// NewNonblocking writes to raw, which has to be in non-blocking mode.
func NewNonblocking(raw syscall.RawConn) *Nonblocking {
	w := &Nonblocking{raw: raw}
	w.call = func(fd uintptr) bool {
		for {
			w.n, w.err = unix.Write(int(fd), w.p)
			if w.err != unix.EINTR { //nolint:errorlint // what unix returns
				return true
			}
		}
	}
	return w
}

// Write returns how much was taken, which may be nothing.
func (w *Nonblocking) Write(p []byte) (int, error) {
	w.p = p
	err := w.raw.Write(w.call)
	w.p = nil
	switch {
	case err != nil:
		return 0, err
	case w.err == unix.EAGAIN: //nolint:errorlint // what unix returns
		return 0, nil
	}
	return max(w.n, 0), w.err
}

// drain writes the rest of batch and all that is posted meanwhile, waiting for
// the peer.
func (c *Conn) drain(batch []byte, n int) {
	for {
		_ = c.conn.SetWriteDeadline(time.Now().Add(c.stall)) // of a closed one the write tells
		m, err := c.conn.Write(batch[n:])
		c.mu.Lock()
		c.sent(m)
		c.give(batch)
		if err != nil {
			c.unsendable(err)
		}
		if len(c.out) == 0 {
			_ = c.conn.SetWriteDeadline(time.Time{})
			c.mu.Unlock()
			return
		}
		batch, n = c.take(), 0
		c.mu.Unlock()
	}
}
