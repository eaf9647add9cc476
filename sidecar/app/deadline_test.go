package app

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// counted counts the deadlines that a connection is given.
type counted struct {
	net.Conn
	sets int
}

func (c *counted) SetReadDeadline(t time.Time) error {
	c.sets++
	return c.Conn.SetReadDeadline(t)
}

func (c *counted) SetWriteDeadline(t time.Time) error {
	c.sets++
	return c.Conn.SetWriteDeadline(t)
}

type one struct {
	net.Listener
	conn net.Conn
}

func (l one) Accept() (net.Conn, error) { return l.conn, nil }

func dialed(t *testing.T) (c net.Conn, inner *counted, peer net.Conn) {
	peer, conn := net.Pipe()
	inner = &counted{Conn: conn}
	c, err := deadlineListener{one{conn: inner}}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = peer.Close() })
	return c, inner, peer
}

func TestDeadlines(t *testing.T) {
	type io func(net.Conn) error
	read := io(func(c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err })
	write := io(func(c net.Conn) error { _, err := c.Write([]byte("x")); return err })
	for name, test := range map[string]struct {
		wait io
		set  func(net.Conn, time.Time) error
	}{
		"of a read":        {read, net.Conn.SetReadDeadline},
		"of a write":       {write, net.Conn.SetWriteDeadline},
		"of both, a read":  {read, net.Conn.SetDeadline},
		"of both, a write": {write, net.Conn.SetDeadline},
	} {
		t.Run("set before, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _, _ := dialed(t)
				began := time.Now()
				_ = test.set(c, began.Add(time.Hour))
				_ = test.set(c, began.Add(time.Minute)) // the last one counts
				if err := test.wait(c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				// It has passed for whatever comes next, until it is moved.
				if err := test.wait(c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
					t.Errorf("again: %v after %v", err, time.Since(began))
				}
				_ = test.set(c, time.Now().Add(time.Minute))
				if err := test.wait(c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 2*time.Minute {
					t.Errorf("moved: %v after %v", err, time.Since(began))
				}
			})
		})
		t.Run("moved while it is waited, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _, _ := dialed(t)
				began := time.Now()
				time.AfterFunc(time.Second, func() { _ = test.set(c, time.Unix(1, 0)) }) // how net/http wakes a reader
				if err := test.wait(c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
		t.Run("taken off while it is waited, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _, peer := dialed(t)
				began := time.Now()
				_ = test.set(c, began.Add(time.Minute))
				time.AfterFunc(time.Second, func() { _ = test.set(c, time.Time{}) })
				time.AfterFunc(time.Hour, func() { _ = peer.Close() })
				if err := test.wait(c); errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Hour {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// What no call has need of the connection is not told.
func TestDeadlinesThatNobodyNeeds(t *testing.T) {
	c, inner, peer := dialed(t)
	for i := range 10 {
		_ = c.SetDeadline(time.Now().Add(time.Duration(i) * time.Hour))
	}
	_ = c.SetDeadline(time.Time{})
	go func() { _, _ = peer.Write([]byte("x")) }()
	if _, err := c.Read(make([]byte, 1)); err != nil || inner.sets != 0 {
		t.Errorf("%v, %d deadlines", err, inner.sets)
	}
}

func TestDeadlineOfAConnectionThatHasGone(t *testing.T) {
	c, _, _ := dialed(t)
	_ = c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Hour))
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("read")
	}
	if _, err := c.Write([]byte("x")); err == nil {
		t.Error("written")
	}
}
