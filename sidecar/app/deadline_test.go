package app

import (
	"errors"
	"io"
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
	type call func(net.Conn) error
	read := call(func(c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err })
	write := call(func(c net.Conn) error { _, err := c.Write([]byte("x")); return err })
	for name, test := range map[string]struct {
		wait call
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

// A write that goes on beyond a deadline that is not wanted any more goes on
// with what is left.
func TestDeadlineMovedInTheMiddleOfAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, peer := dialed(t)
		_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
		var got []byte
		go func() {
			for _, part := range []int{3, 4, 3} {
				time.Sleep(45 * time.Second)
				_ = c.SetWriteDeadline(time.Now().Add(time.Hour))
				b := make([]byte, part)
				n, _ := io.ReadFull(peer, b)
				got = append(got, b[:n]...)
			}
		}()
		n, err := c.Write([]byte("0123456789"))
		synctest.Wait()
		if n != 10 || err != nil || string(got) != "0123456789" {
			t.Errorf("%d written, %v, %q read", n, err, got)
		}
	})
}
