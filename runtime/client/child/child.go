package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
)

// Defaults of Config.
const (
	DefaultGrace = 2 * time.Second
	// MaxStderr is how much of the end of stderr an ExitError shows, in bytes.
	MaxStderr = 4 << 10
)

// linger is how long output is still read after the process has exited, and how
// long an exit is waited for after the output ended.
const linger = 500 * time.Millisecond

// Config says what to run. Path is required.
type Config struct {
	// Path and Args are the program and what follows its name.
	Path string
	Args []string
	// Dir is the working directory; empty means this process's own. Env is the
	// environment; nil means this process's own (W18.10).
	Dir string
	Env []string
	// Stderr gets what the process writes there (W18.3); nil drops it. The
	// process waits while a Write does.
	Stderr io.Writer
	// Grace is how long the process may take after its input closed, and again
	// after TERM [2 s].
	Grace time.Duration
	// MaxMessageBytes bounds one line of the process.
	MaxMessageBytes int
}

// ExitError says how a process ended.
type ExitError struct {
	// Path is the program.
	Path string
	// State is its exit status; nil when it still runs but closed its output.
	State *os.ProcessState
	// Stderr is the end of what it wrote there.
	Stderr string
	// Err is what the pipe said.
	Err error
}

// Error implements error. The text is for logs.
func (e *ExitError) Error() string {
	how := "closed its output"
	if e.State != nil {
		how = e.State.String()
	}
	if e.Stderr != "" {
		return fmt.Sprintf("%s: %s: %q", e.Path, how, e.Stderr)
	}
	return fmt.Sprintf("%s: %s", e.Path, how)
}

// Unwrap gives what the pipe said.
func (e *ExitError) Unwrap() error { return e.Err }

// Link is a running process. All methods may be called concurrently.
type Link struct {
	*peer.Stdio
	cfg   Config
	cmd   *exec.Cmd
	tail  *tail
	in    io.Closer
	out   io.Closer
	once  sync.Once
	begun atomic.Bool // it has a Receiver
	wg    sync.WaitGroup
	ended chan struct{} // closed when the process was reaped
}

var _ peer.Link = (*Link)(nil)

// Start runs the program. The Link reads nothing before its own Start; Close
// ends the process also without that.
func Start(cfg Config) (*Link, error) {
	if cfg.Grace <= 0 {
		cfg.Grace = DefaultGrace
	}
	l := &Link{cfg: cfg, tail: &tail{to: cfg.Stderr}, ended: make(chan struct{})}
	l.cmd = exec.Command(cfg.Path, cfg.Args...)
	l.cmd.Dir, l.cmd.Env, l.cmd.Stderr = cfg.Dir, cfg.Env, l.tail
	l.cmd.WaitDelay = linger // grandchildren may hold stderr open
	l.cmd.SysProcAttr = ownGroup()
	in, theirIn, err := pipe(true)
	if err != nil {
		return nil, err
	}
	out, theirOut, err := pipe(false)
	if err != nil {
		_ = in.Close()
		_ = theirIn.Close()
		return nil, err
	}
	l.cmd.Stdin, l.cmd.Stdout = theirIn, theirOut
	err = l.cmd.Start()
	_ = theirIn.Close()
	_ = theirOut.Close()
	if err != nil {
		_ = in.Close()
		_ = out.Close()
		return nil, &peer.Failure{Reason: peer.Unreachable, NotDelivered: true, Err: err}
	}
	l.in, l.out = in, out
	l.Stdio = peer.NewStdio(ndjson.Config{In: in, Out: out, MaxMessageBytes: cfg.MaxMessageBytes})
	l.wg.Go(l.reap)
	return l, nil
}

// pipe makes a pipe; ours is the end that this process keeps.
func pipe(weWrite bool) (ours, theirs *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("child: %w", err)
	}
	if weWrite {
		return w, r, nil
	}
	return r, w, nil
}

// PID is the process id.
func (l *Link) PID() int { return l.cmd.Process.Pid }

// Start implements peer.Link.
func (l *Link) Start(r peer.Receiver) {
	l.Stdio.Start(&ear{Receiver: r, link: l})
	l.begun.Store(true)
	l.wg.Go(func() {
		// Grandchildren may hold the output open for ever.
		<-l.ended
		t := time.NewTimer(linger)
		defer t.Stop()
		<-t.C
		l.Stdio.Close(ndjson.ErrEnded)
	})
}

// ear tells the end of the output together with the end of the process.
type ear struct {
	peer.Receiver
	link *Link
}

// Ended implements peer.Receiver.
func (e *ear) Ended(err error) {
	t := time.NewTimer(linger)
	defer t.Stop()
	exit := &ExitError{Path: e.link.cfg.Path, Err: err}
	select {
	case <-e.link.ended:
		exit.State = e.link.cmd.ProcessState
	case <-t.C:
	}
	exit.Stderr = e.link.tail.String()
	e.Receiver.Ended(exit)
}

// Close implements peer.Link: it begins the shutdown (W18.7) and does not wait.
func (l *Link) Close(error) {
	l.once.Do(func() { l.wg.Go(l.shutdown) })
}

// Wait returns when the process is gone. Call it after Close.
func (l *Link) Wait() { l.wg.Wait() }

func (l *Link) shutdown() {
	if l.begun.Load() {
		l.CloseInput()
	} else {
		_ = l.in.Close()
		_ = l.out.Close()
	}
	for _, end := range []func(){
		func() { terminate(l.cmd.Process) },
		func() { kill(l.cmd.Process) },
	} {
		if l.gone(l.cfg.Grace) {
			break
		}
		end()
	}
	<-l.ended
	if l.begun.Load() {
		l.Stdio.Close(ndjson.ErrClosed)
		l.WaitPipes()
	}
}

// gone waits for the end of the process.
func (l *Link) gone(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.ended:
		return true
	case <-t.C:
		return false
	}
}

// reap waits for the process and ends what it left in its group.
func (l *Link) reap() {
	defer close(l.ended)
	_ = l.cmd.Wait() // the status is in ProcessState
	sweep(l.cmd.Process)
}

// Send implements peer.Link. A process that is gone says so itself.
func (l *Link) Send(ctx context.Context, out *peer.Outgoing) error {
	err := l.Stdio.Send(ctx, out)
	var f *peer.Failure
	if errors.As(err, &f) {
		select {
		case <-l.ended:
			f.Err = &ExitError{Path: l.cfg.Path, State: l.cmd.ProcessState, Stderr: l.tail.String(), Err: f.Err}
		default:
		}
	}
	return err
}

// tail passes on what is written and remembers the end.
type tail struct {
	to io.Writer // may be nil

	mu  sync.Mutex
	end []byte
}

// Write implements io.Writer; it always succeeds, so that a broken log does not
// end the process.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.end = append(t.end, b[max(0, len(b)-MaxStderr):]...)
	t.end = t.end[max(0, len(t.end)-MaxStderr):]
	t.mu.Unlock()
	if t.to != nil {
		_, _ = t.to.Write(b)
	}
	return len(b), nil
}

// String is the end of what was written.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
