package agent

import (
	"os"
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
	// Stdin and Stdout are the child's pipe ends, non-blocking and known to
	// the poller: SetDeadline works and Close interrupts a blocked call. The
	// owner may close Stdin alone to ask the child to end (W18.7).
	Stdin  *os.File
	Stdout *os.File
	// PID is the child's process id as its own container sees it. For logs.
	PID int
}

// Done is closed when the process has ended and with it its group and every
// orphan the agent could find, or when nothing more can be learned about it
// (Exit().Err). What the child wrote before is still readable from Stdout.
func (p *Process) Done() <-chan struct{} { return nil }

// Exit tells how the process ended. Valid once Done is closed; before that
// Code is -1.
func (p *Process) Exit() Exit { return Exit{} }

// Signal sends the named signal to the process group. It does not wait for
// an effect. Unknown names are CodeMalformed; a process that is gone is no
// error.
func (p *Process) Signal(name string) error { return nil }

// Stop closes Stdin and starts the agent's clock: TERM after StdinGrace, KILL
// after TermGrace. Unlike Close it keeps the connection, so that Done and Exit
// tell how it went. It returns at once and is idempotent.
func (p *Process) Stop() error { return nil }

// Close gives up Stdin, Stdout and the control connection, upon which the
// agent ends the process as in Stop. It returns at once, and is idempotent.
// If the process had not ended, Done closes with Exit().Err of CodeClosed.
func (p *Process) Close() error { return nil }
