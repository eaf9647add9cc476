package supervisor

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/relay"
)

// settleTime bounds how long the end of a process is kept back for output that
// the peer has no room for.
const settleTime = time.Second

// streams copies between a child's pipes and the connection.
type streams struct {
	frames        *relay.Conn
	stdin, stdout *os.File
	sent          chan struct{} // closed when all output is with the peer, or lost
	copying       sync.WaitGroup
}

// newStreams takes over the pipe ends unless it fails, and c speaks frames from
// then on.
func newStreams(c *connection, stdin, stdout int) (*streams, error) {
	for _, fd := range []int{stdin, stdout} {
		// Without it a copy could wait for ever: of files in blocking mode
		// Close does not interrupt anything.
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
	}
	s := &streams{sent: make(chan struct{})}
	frames, err := relay.New(c.UnixConn, c.lines.Rest(), s.refused)
	if err != nil {
		return nil, err
	}
	s.frames, c.frames = frames, frames
	s.stdin, s.stdout = os.NewFile(uintptr(stdin), "stdin"), os.NewFile(uintptr(stdout), "stdout")
	if raw, err := s.stdin.SyscallConn(); err == nil {
		pipe := relay.NewNonblocking(raw)
		frames.In.Straight(func(p []byte) int {
			n, _ := pipe.Write(p) // how it fails the next write tells
			return n
		})
	}
	s.copying.Go(s.feed)
	s.copying.Go(s.drain)
	return s, nil
}

// feed copies to the child until the peer ends the stream, or is gone.
func (s *streams) feed() {
	pass(s.stdin, s.frames.In)
	_ = s.stdin.Close()
	_ = s.frames.In.Close() // the child does not read: neither do we
}

// drain copies from the child until it ends its output or the peer does not
// want it.
func (s *streams) drain() {
	defer close(s.sent)
	pass(s.frames.Out, s.stdout)
	_ = s.stdout.Close()
	_ = s.frames.Out.Close()
}

// pass copies without more than a frame in its hands. How it ends, one of the
// two will not go on.
func pass(to io.Writer, from io.Reader) {
	buf := make([]byte, relay.MaxData)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// refused closes what the peer does not want, so that the child is told by its
// next write.
func (s *streams) refused() { _ = s.stdout.Close() }

// settle gives the output of a child that has ended time to get to the peer
// before its exit is told.
func (s *streams) settle(gone <-chan struct{}) {
	_ = s.frames.In.Close()
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-s.sent:
	case <-gone:
	case <-timer.C:
	}
}

// end returns when nothing is copied any more: the peer has all the output or
// is gone, or the container is terminated and it does not take it in time.
func (s *streams) end(gone, stopping <-chan struct{}, limit time.Duration) {
	select {
	case <-s.sent:
	case <-gone:
	case <-stopping:
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-s.sent:
		case <-gone:
		case <-timer.C:
		}
	}
	_ = s.stdin.Close()
	_ = s.stdout.Close()
	_ = s.frames.Out.Close()
	s.copying.Wait()
}
