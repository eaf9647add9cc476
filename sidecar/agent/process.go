package agent

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/relay"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// Signal names that Process.Signal takes.
const (
	SIGHUP  = "HUP"
	SIGINT  = "INT"
	SIGQUIT = "QUIT"
	SIGKILL = "KILL"
	SIGUSR1 = "USR1"
	SIGUSR2 = "USR2"
	SIGTERM = "TERM"
)

// commandTimeout bounds the writing of one command: a healthy agent always
// reads, so a full socket means one that is stopped.
const commandTimeout = time.Second

// Exit is how a process ended.
type Exit struct {
	// Code is the exit status, -1 if there is none (killed, or unknown).
	Code int
	// Signal is the name of the signal that killed it ("KILL"), or "".
	Signal string
	// StderrTail are its last stderr lines, oldest first: at most 20 lines
	// and 8 KiB, control characters escaped. Workload text: for people, never
	// for conditions (O18) and never for clients.
	StderrTail []string
	// Err is nil when the agent reported the end. Otherwise the end itself is
	// not known: CodeUnreachable (agent or container died), CodeProtocol, or
	// CodeClosed.
	Err error
}

// Process is a running child of the workload container. The owner must call
// Close, also after Done. All methods may be called concurrently.
type Process struct {
	// Stdin and Stdout are the child's pipe ends, or stand for them where they
	// are relayed: deadlines work and Close interrupts a blocked call. The
	// owner may close Stdin alone to ask the child to end (W18.7). When the
	// container is terminated, Stdin is closed by this package.
	Stdin  Input
	Stdout Output
	// Relayed: the pipes could not be passed, so their bytes are copied over
	// the socket (P11). That a child has closed its stdin and lives on is then
	// seen by the write after the next.
	Relayed bool
	// PID is the child's process id as its own container sees it. For logs.
	PID int

	control control
	once    sync.Once // Stop

	closed atomic.Bool
	done   chan struct{}
	exit   Exit // written before done is closed
}

// Input is the write end of the child's stdin.
type Input interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// Output is the read end of the child's stdout.
type Output interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// newProcess takes over c. On an error c is untouched except that it no
// longer owns descriptors that were closed here.
func newProcess(c *connection) (*Process, error) {
	p := &Process{PID: c.reply.Started.PID, done: make(chan struct{})}
	if err := p.connect(c); err != nil {
		return nil, err
	}
	go p.watch()
	return p, nil
}

// Done is closed when the process has ended and with it its group and every
// orphan the agent could find, or when nothing more can be learned about it
// (Exit().Err). What the child wrote before is still readable from Stdout.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit tells how the process ended. Before Done is closed its Code is -1 and
// nothing else is set.
func (p *Process) Exit() Exit {
	select {
	case <-p.done:
		return p.exit
	default:
		return Exit{Code: -1}
	}
}

// Signal sends the named signal to the process group. It does not wait for
// an effect. Unknown names are CodeMalformed; a process that is gone is no
// error.
func (p *Process) Signal(name string) error {
	switch name {
	case SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGUSR1, SIGUSR2, SIGTERM:
	default:
		return &Error{Code: CodeMalformed, Detail: "unknown signal name"}
	}
	return p.command(wire.Command{Signal: name})
}

// Stop closes Stdin and starts the agent's clock: TERM after StdinGrace, KILL
// after TermGrace. Unlike Close it keeps the connection, so that Done and Exit
// tell how it went. It returns at once and is idempotent.
func (p *Process) Stop() error {
	p.Stdin.Close()
	var err error
	p.once.Do(func() { err = p.command(wire.Command{Stop: &wire.Empty{}}) })
	return err
}

// Close gives up Stdin, Stdout and the control connection, upon which the
// agent ends the process as in Stop. It returns at once, and is idempotent.
// If the process had not ended, Done closes with Exit().Err of CodeClosed.
func (p *Process) Close() error {
	p.closed.Store(true)
	p.Stdin.Close()
	p.Stdout.Close()
	p.control.Close() // ends watch, and a command that is being written
	return nil
}

func (p *Process) command(c wire.Command) error {
	line, err := wire.Encode(c, wire.MaxCommand)
	if err != nil {
		return &Error{Code: CodeMalformed, Err: err}
	}
	err = p.control.WriteLine(line[:len(line)-1])
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, relay.ErrStalled) {
		// Nothing can follow what may be half out. Without the connection the
		// agent ends the process once it runs again.
		p.control.Close()
		return &Error{Code: CodeTimeout, Err: err}
	}
	// Any other failure is the end of the process or of the agent, or Close;
	// Done tells which.
	return nil
}

// watch reads the agent's reports until the last one, and what is relayed
// until the agent hangs up.
func (p *Process) watch() {
	exit, err := p.reports()
	p.ended(exit, err)
	for p.Relayed && err == nil {
		_, err = p.control.Next(wire.MaxReport)
	}
	p.control.Close()
}

func (p *Process) ended(exit *wire.Exit, err error) {
	defer close(p.done)
	switch {
	case err == nil:
		p.exit = Exit{Code: exit.Code, Signal: exit.Signal, StderrTail: exit.StderrTail}
	case p.closed.Load():
		p.exit = Exit{Code: -1, Err: &Error{Code: CodeClosed}}
	default:
		p.exit = Exit{Code: -1, Err: err}
	}
}

func (p *Process) reports() (*wire.Exit, error) {
	for {
		line, err := p.control.Next(wire.MaxReport)
		var frame *relay.FrameError
		if errors.Is(err, wire.ErrTooLong) || errors.As(err, &frame) {
			return nil, &Error{Code: CodeProtocol, Err: err}
		}
		if err != nil {
			return nil, &Error{Code: CodeUnreachable, Detail: "the connection to the agent broke", Err: err}
		}
		report, err := wire.ParseReport(line)
		if err != nil {
			return nil, protocol(err)
		}
		if report.Exit != nil {
			return report.Exit, nil
		}
		// The container is being terminated. The agent holds no copy of the
		// child's stdin, so the first step of W18.7 is ours.
		p.Stdin.Close()
	}
}
