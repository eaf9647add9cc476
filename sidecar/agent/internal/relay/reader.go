package relay

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Reader is the stream that the peer writes, like the read end of a pipe.
type Reader struct {
	conn *Conn
	wait

	buf    []byte // received and not read: buf[off:]
	off    int
	room   int // what the peer may still send
	owed   int // what was read and not yet granted again
	eof    bool
	closed bool

	// straight takes what arrives while a Read waits in its place, as far as
	// that can be done at once.
	straight func([]byte) int
	waiting  bool
}

func newReader(c *Conn) *Reader {
	r := &Reader{conn: c, room: Window}
	r.wake.L = &c.mu
	return r
}

// Read returns what was received, waiting for the first byte. After the end of
// the stream, or of the connection, it returns io.EOF; a *FrameError where the
// peer broke the connection; os.ErrClosed after Close.
func (r *Reader) Read(p []byte) (int, error) {
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case r.closed:
			return 0, os.ErrClosed
		case r.late():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case r.off < len(r.buf):
			return r.take(p), nil
		case r.eof:
			return 0, io.EOF
		case c.err != nil:
			var broken *FrameError
			if errors.As(c.err, &broken) {
				return 0, broken
			}
			return 0, io.EOF
		}
		r.waiting = true
		r.sleep()
		r.waiting = false
	}
}

// Straight has f take what arrives while the one reader waits, which saves
// waking it; what f leaves is read as ever. f may not wait, and is called on the
// goroutine of Next. Call it before that, and read from one goroutine only.
func (r *Reader) Straight(f func(p []byte) (taken int)) { r.straight = f }

// take hands on what is there, and grants it again in large pieces.
func (r *Reader) take(p []byte) int {
	n := copy(p, r.buf[r.off:])
	r.off += n
	if r.off == len(r.buf) {
		r.buf, r.off = r.buf[:0], 0
	}
	r.pay(n)
	return n
}

// pay counts what has been handed on.
func (r *Reader) pay(n int) {
	r.owed += n
	if r.owed >= Window/2 && !r.eof {
		r.conn.postCredit(r.owed)
		r.room += r.owed
		r.owed = 0
		r.conn.flush()
	}
}

// Close drops what was received and what is still to come. It returns at once
// and interrupts a Read.
func (r *Reader) Close() error {
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.closed {
		return os.ErrClosed
	}
	r.closed = true
	r.buf, r.off = nil, 0
	r.wake.Broadcast()
	if !r.eof {
		c.post(kindClosed, nil)
		c.flush()
	}
	return nil
}

// SetReadDeadline is that of a file.
func (r *Reader) SetReadDeadline(t time.Time) error {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if r.closed {
		return os.ErrClosed
	}
	r.set(t)
	return nil
}

// receive takes a data frame.
func (r *Reader) receive(body []byte) error {
	r.conn.mu.Lock()
	kept, err := r.keep(body)
	r.conn.mu.Unlock()
	if kept {
		r.wake.Signal() // now: who wakes wants the mutex first
	}
	return err
}

// keep is receive with mu held; it reports whether a Read has something to take.
func (r *Reader) keep(body []byte) (kept bool, err error) {
	size := header + len(body)
	switch {
	case r.eof:
		return false, bad("data after the end of the stream")
	case size > r.room:
		return false, bad("%d bytes beyond the window", size-r.room)
	}
	r.room -= size
	r.owed += header
	if r.closed {
		return false, nil
	}
	if r.straight != nil && r.waiting && len(r.buf) == 0 {
		n := r.straight(body)
		r.pay(n)
		if body = body[n:]; len(body) == 0 {
			return false, nil
		}
	}
	if r.off > 0 && len(r.buf)+len(body) > cap(r.buf) {
		r.buf = append(r.buf[:0], r.buf[r.off:]...)
		r.off = 0
	}
	r.buf = append(r.buf, body...)
	return true, nil
}

// finish takes an eof frame.
func (r *Reader) finish() error {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if r.eof {
		return bad("a second end of the stream")
	}
	r.eof = true
	r.wake.Broadcast()
	return nil
}

// wait is waiting for a change of a stream, at most until a deadline. The
// mutex of the connection is held in its methods.
type wait struct {
	wake     sync.Cond
	deadline time.Time
}

// late reports that the deadline has passed.
func (w *wait) late() bool { return !w.deadline.IsZero() && !time.Now().Before(w.deadline) }

func (w *wait) set(t time.Time) {
	w.deadline = t
	w.wake.Broadcast() // those who wait do so for the old one
}

func (w *wait) sleep() {
	if w.deadline.IsZero() {
		w.wake.Wait()
		return
	}
	t := time.AfterFunc(time.Until(w.deadline), func() {
		// Nobody is between looking at the clock and waiting while we have it.
		w.wake.L.Lock()
		defer w.wake.L.Unlock()
		w.wake.Broadcast()
	})
	w.wake.Wait()
	t.Stop()
}
