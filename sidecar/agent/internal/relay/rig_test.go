package relay

import (
	"net"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// side is a Conn whose Next is being called.
type side struct {
	*Conn
	lines   chan string
	refused chan struct{} // gets one for each call of the hook
	done    chan struct{} // closed with end
	end     error
}

// sockets are two ends of one connection.
func sockets(t testing.TB) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "")
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(*net.UnixConn)
	}
	return open(fds[0]), open(fds[1])
}

func newSide(t testing.TB, conn *net.UnixConn) *side {
	t.Helper()
	s := &side{lines: make(chan string, 1000), refused: make(chan struct{}, 9), done: make(chan struct{})}
	c, err := New(conn, conn, func() { s.refused <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	s.Conn = c
	return s
}

// run begins to call Next until the connection ends, as it does with the test.
func (s *side) run(t testing.TB) *side {
	go func() {
		defer close(s.done)
		for {
			line, err := s.Next(100)
			if err != nil {
				s.end = err
				return
			}
			s.lines <- string(line)
		}
	}()
	t.Cleanup(func() { s.conn.Close(); <-s.done })
	return s
}

func pair(t testing.TB) (a, b *side) {
	x, y := sockets(t)
	return newSide(t, x).run(t), newSide(t, y).run(t)
}

// held is what a side keeps in memory of both streams.
func (s *side) held() (received, unsent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cap(s.In.buf), s.unsent
}

// concurrently runs all and waits for them.
func concurrently(all ...func()) {
	var wg sync.WaitGroup
	for _, f := range all {
		wg.Go(f)
	}
	wg.Wait()
}
