package app

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// deadlineListener accepts connections whose deadlines are kept here until a
// read or a write has need of them. An HTTP server moves them a dozen times per
// request, mostly around reads of what has come already; each time would cost a
// timer.
type deadlineListener struct{ net.Listener }

// Accept implements net.Listener.
func (l deadlineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &deadlineConn{Conn: c, read: deadline{since: now}, write: deadline{since: now}}, nil
}

type deadlineConn struct {
	net.Conn
	read, write deadline
}

// Read implements net.Conn.
func (c *deadlineConn) Read(b []byte) (n int, err error) {
	for again := true; again; {
		if err := c.read.begin(c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
		n, err = c.Conn.Read(b)
		again = c.read.end(err) && n == 0
	}
	return n, err
}

// Write implements net.Conn.
func (c *deadlineConn) Write(b []byte) (n int, err error) {
	for again := true; again; {
		if err := c.write.begin(c.Conn.SetWriteDeadline); err != nil {
			return n, err
		}
		var wrote int
		wrote, err = c.Conn.Write(b[n:])
		n += wrote
		again = c.write.end(err)
	}
	return n, err
}

// SetReadDeadline implements net.Conn.
func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	return c.read.move(t, c.Conn.SetReadDeadline)
}

// SetWriteDeadline implements net.Conn.
func (c *deadlineConn) SetWriteDeadline(t time.Time) error {
	return c.write.move(t, c.Conn.SetWriteDeadline)
}

// SetDeadline implements net.Conn.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// deadline is that of one direction. What the connection has may be earlier
// than what is wanted: a call that it ends too early is made again. Whoever
// wants another one says so before he looks whether a call waits, and a call says
// that it waits before it looks what is wanted: one of both sees the other.
type deadline struct {
	since   time.Time    // what moments count from
	want    atomic.Int64 // a moment
	waiting atomic.Int32 // calls that it is for now

	mu     sync.Mutex   // held where the connection is given another one
	set    atomic.Int64 // a moment: what the connection has
	passed atomic.Bool  // that has ended a call: it will do for no other
}

// moment is t in nanoseconds since a time, 0 for none.
func moment(since, t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	if d := t.Sub(since); d != 0 {
		return int64(d)
	}
	return 1
}

// move is the deadline from now on, also for a call that waits.
func (d *deadline) move(t time.Time, set func(time.Time) error) error {
	d.want.Store(moment(d.since, t))
	if d.waiting.Load() == 0 {
		return nil
	}
	return d.apply(set)
}

// begin and end are around a call.
func (d *deadline) begin(set func(time.Time) error) error {
	d.waiting.Add(1)
	err := d.apply(set)
	if err != nil {
		d.waiting.Add(-1)
	}
	return err
}

// end reports whether the call has to be made again: it was ended by a deadline
// that is not wanted.
func (d *deadline) end(err error) (again bool) {
	d.waiting.Add(-1)
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.passed.Store(true)
	return d.want.Load() != d.set.Load()
}

// apply gives the connection what is wanted, unless what it has will do.
func (d *deadline) apply(set func(time.Time) error) error {
	if d.does() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.does() {
		return nil
	}
	want, at := d.want.Load(), time.Time{}
	if want != 0 {
		at = d.since.Add(time.Duration(want))
	}
	if err := set(at); err != nil {
		return err
	}
	d.set.Store(want)
	d.passed.Store(false)
	return nil
}

// does reports whether what the connection has will do.
func (d *deadline) does() bool {
	want, has := d.want.Load(), d.set.Load()
	return want == has || has != 0 && !d.passed.Load() && (want == 0 || has < want)
}
