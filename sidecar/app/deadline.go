package app

import (
	"net"
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
func (c *deadlineConn) Read(b []byte) (int, error) {
	if err := c.read.begin(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	defer c.read.end()
	return c.Conn.Read(b)
}

// Write implements net.Conn.
func (c *deadlineConn) Write(b []byte) (int, error) {
	if err := c.write.begin(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	defer c.write.end()
	return c.Conn.Write(b)
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

// deadline is that of one direction.
type deadline struct {
	mu      sync.Mutex
	want    time.Time
	set     time.Time // what the connection has
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

func (d *deadline) end() {
	d.mu.Lock()
	d.waiting--
	d.mu.Unlock()
}

// apply gives the connection what is wanted; mu is held.
func (d *deadline) apply(set func(time.Time) error) error {
	if d.want == d.set {
		return nil
	}
	if err := set(d.want); err != nil {
		return err
	}
	d.set = d.want
	return nil
}
