package supervisor

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

// Defaults of Supervisor.
const (
	// DefaultMaxProcesses is a last resort far above what a sidecar is
	// configured to start.
	DefaultMaxProcesses = 512
	// DefaultTermination is the workload's clock of O3.
	DefaultTermination = 5 * time.Second
)

const (
	// spareConnections may be open beside one per process: pings, and those
	// that have not yet said what they want.
	spareConnections = 32
	// firstLineTimeout bounds how long a connection may stay silent.
	firstLineTimeout = 5 * time.Second
	// writeTimeout bounds one line to a sidecar that does not read.
	writeTimeout = 2 * time.Second
	// lastSecond is for the sweeps after the last KILL.
	lastSecond = time.Second
	// acceptPause follows an accept that failed for want of descriptors.
	acceptPause = 100 * time.Millisecond
)

// Supervisor starts processes for those who connect. Set the fields before
// Serve, which may be called once per process of the operating system: it
// collects every child there is.
type Supervisor struct {
	// Command is what a start without argv runs; at least one word.
	Command []string
	// AllowArgv accepts start requests with a command of their own (O11).
	AllowArgv bool
	// Env is the container's own environment, which every child gets.
	Env []string
	// MaxProcesses bounds the processes alive or being ended; zero: the
	// default.
	MaxProcesses int
	// Termination is the clock of the end of Serve: children have a fifth of
	// it after the sidecar was told to close their stdin, then TERM; KILL at
	// four fifths. What is not gone a second after its end (it comes out of
	// O3's margin) is left to the kernel. Zero: the default.
	Termination time.Duration
	// Relay copies every process's streams over its connection rather than try
	// to pass the pipes. It is what happens anyway where they do not arrive.
	Relay bool
	// Log is the container's log. Required.
	Log *Log

	reaper *reaper
	forker *forker
	// stopping is closed when Serve's context ends.
	stopping chan struct{}
	// relaying is told once.
	relaying sync.Once
	// sweeps is held during a sweep: one at a time looks through /proc.
	sweeps sync.Mutex

	mu    sync.Mutex
	keys  map[string]struct{}
	conns int
}

// Serve answers connections on l until ctx ends; then it closes l, ends all
// processes by Termination and returns nil. It owns l. An error means that
// it could not begin, or that the listener broke; processes are ended all the
// same.
func (s *Supervisor) Serve(ctx context.Context, l *net.UnixListener) error {
	if len(s.Command) == 0 || s.Log == nil {
		l.Close()
		return errors.New("a command and a log are needed")
	}
	s.fill()
	// Orphans come to us and not to whoever is PID 1. PID 1 gets them anyway.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil && os.Getpid() != 1 {
		l.Close()
		return err
	}
	sigchld := make(chan os.Signal, 1) // one waiting says it all
	signal.Notify(sigchld, unix.SIGCHLD)
	var helpers sync.WaitGroup
	helpers.Go(func() { s.reaper.run(sigchld) })
	helpers.Go(s.forker.run)

	var conns sync.WaitGroup
	stop := context.AfterFunc(ctx, func() {
		close(s.stopping)
		l.Close()
	})
	err := s.accept(ctx, l, &conns)
	if stop() { // the listener broke by itself
		close(s.stopping)
		l.Close()
	}
	if !finished(&conns, s.Termination+lastSecond) {
		// Something does not die, for instance in a dead network file system.
		// The helpers are left to it; the caller exits.
		s.Log.Printf("processes are left after %v", s.Termination)
		return err
	}
	signal.Stop(sigchld)
	close(sigchld)
	close(s.forker.requests)
	helpers.Wait()
	return err
}

func (s *Supervisor) fill() {
	if s.MaxProcesses <= 0 {
		s.MaxProcesses = DefaultMaxProcesses
	}
	if s.Termination <= 0 {
		s.Termination = DefaultTermination
	}
	s.reaper = newReaper()
	s.forker = newForker(s.reaper)
	s.stopping = make(chan struct{})
	s.keys = map[string]struct{}{}
}

func finished(wg *sync.WaitGroup, limit time.Duration) bool {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

func (s *Supervisor) accept(ctx context.Context, l *net.UnixListener, conns *sync.WaitGroup) error {
	for {
		conn, err := l.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // EMFILE and the like pass
			s.Log.Printf("accept: %v", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		if !s.admit() {
			newConnection(conn).refuse(refuse(agent.CodeLimit, "%d connections are open, no more are allowed", s.MaxProcesses+spareConnections))
			continue
		}
		conns.Go(func() {
			defer s.leave()
			s.serve(newConnection(conn))
		})
	}
}

// admit counts a connection in, unless there are too many.
func (s *Supervisor) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns >= s.MaxProcesses+spareConnections {
		return false
	}
	s.conns++
	return true
}

func (s *Supervisor) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns--
}

// reserve takes a place for a process; release gives it back when nothing of
// the process is left.
func (s *Supervisor) reserve(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopping:
		return refuse(agent.CodeStopping, "the container is being terminated")
	default:
	}
	if _, ok := s.keys[key]; ok {
		return refuse(agent.CodeKeyInUse, "a process with this key is alive or being ended")
	}
	if len(s.keys) >= s.MaxProcesses {
		return refuse(agent.CodeLimit, "%d processes are alive or being ended, no more are allowed", len(s.keys))
	}
	s.keys[key] = struct{}{}
	return nil
}

func (s *Supervisor) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
}

func (s *Supervisor) processes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}
