package app

import (
	"errors"
	"net"
	"os"
	"sync"
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
	return &deadlineConn{Conn: c}, nil
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
// than what is wanted: a call that it ends too early is made again.
type deadline struct {
	mu      sync.Mutex
	want    time.Time
	set     time.Time // what the connection has
	early   bool      // a call was ended by it too early
	waiting int       // calls that it is for now
}

// move is the deadline from now on, also for a call that waits.
func (d *deadline) move(t time.Time, set func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want = t
	if d.waiting == 0 {
		return nil
	}
	return d.apply(set)
}

// begin and end are around a call.
func (d *deadline) begin(set func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.apply(set); err != nil {
		return err
	}
	d.waiting++
	return nil
}

// end reports whether the call has to be made again: it was ended by a deadline
// that is not wanted.
func (d *deadline) end(err error) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || d.want == d.set {
		return false
	}
	d.early = true
	return true
}

// apply gives the connection what is wanted, unless what it has will do; mu is
// held.
func (d *deadline) apply(set func(time.Time) error) error {
	switch {
	case d.want == d.set:
		return nil
	case !d.early && !d.set.IsZero() && (d.want.IsZero() || d.set.Before(d.want)):
		return nil
	}
	if err := set(d.want); err != nil {
		return err
	}
	d.set, d.early = d.want, false
	return nil
}
