package relay

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Writer is the stream that the peer reads, like the write end of a pipe.
type Writer struct {
	conn *Conn
	wait
	onRefused func()

	room   int // what the window still takes
	ended  bool
	closed bool // by the peer
}

func newWriter(c *Conn, refused func()) *Writer {
	w := &Writer{conn: c, room: Window, onRefused: refused}
	w.wake.L = &c.mu
	return w
}

// Write returns when all of p is within the window, as a pipe takes what fits.
// Errors: os.ErrClosed after Close, unix.EPIPE when nobody will read it,
// os.ErrDeadlineExceeded.
func (w *Writer) Write(p []byte) (written int, err error) {
	c := w.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case w.ended:
			return written, os.ErrClosed
		case w.closed || c.mute:
			return written, unix.EPIPE
		case w.late():
			return written, os.ErrDeadlineExceeded
		case len(p) == 0:
			return written, nil
		}
		n := min(len(p), MaxData, w.room-header)
		if n <= 0 {
			w.sleep()
			continue
		}
		w.room -= header + n
		c.post(kindData, p[:n])
		c.flush()
		written += n
		p = p[n:]
	}
}

// Close ends the stream after what was written. It returns at once and
// interrupts a Write.
func (w *Writer) Close() error {
	c := w.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.ended {
		return os.ErrClosed
	}
	w.ended = true
	w.wake.Broadcast()
	c.post(kindEOF, nil)
	c.flush()
	return nil
}

// SetWriteDeadline is that of a file.
func (w *Writer) SetWriteDeadline(t time.Time) error {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	if w.ended {
		return os.ErrClosed
	}
	w.set(t)
	return nil
}

// grant takes a credit frame.
func (w *Writer) grant(n uint32) error {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	if n == 0 || int64(n) > int64(Window-w.room) {
		return bad("a credit of %d bytes, %d are under way", n, Window-w.room)
	}
	w.room += int(n)
	w.wake.Signal()
	return nil
}

// refused takes a closed frame.
func (w *Writer) refused() {
	w.conn.mu.Lock()
	first := !w.closed
	w.closed = true
	w.wake.Broadcast()
	w.conn.mu.Unlock()
	if first && w.onRefused != nil {
		w.onRefused()
	}
}
