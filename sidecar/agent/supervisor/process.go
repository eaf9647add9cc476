package supervisor

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// stderrGrace bounds the wait for the end of stderr once everything that could
// hold it has been killed.
const stderrGrace = time.Second

// process is one child from fork to the last trace of it.
type process struct {
	supervisor *Supervisor
	key        string
	child      *child
	stderr     *os.File
	streams    *streams // nil where the peer has the pipes
	grace      grace
	sweeper    sweeper
}

// grace is how long a process may take: after its stdin was closed, and after
// TERM.
type grace struct{ stdin, term time.Duration }

// supervise returns when the process, its group and its orphans are gone and
// the peer has been told.
func (p *process) supervise(c *connection) {
	ended, drained := make(chan struct{}), make(chan struct{})
	tail := newStderr(p.supervisor.Log, p.key)
	go func() {
		defer close(drained)
		tail.copy(p.stderr, ended)
	}()
	commands := newCommands(c, p)
	p.wait(c, commands)
	if killed, clean := p.sweep(); killed > 0 || !clean {
		p.supervisor.Log.Printf("%.8s left %d processes behind, killed (all gone: %v)", p.key, killed, clean)
	}
	close(ended)
	timer := time.AfterFunc(stderrGrace, func() { p.stderr.Close() })
	<-drained
	timer.Stop()
	p.stderr.Close()
	if p.streams != nil {
		p.streams.settle(commands.gone)
	}
	_ = c.report(wire.Report{Exit: exitOf(p.child.status, tail.tail)}) // the peer may have gone long ago
	if p.streams != nil {
		p.streams.end(commands.gone, p.supervisor.stopping, p.supervisor.Termination/5)
	}
	c.finish()
	<-commands.gone
}

// wait returns when the child has been collected. Until then it turns what
// happens on the connection into steps of the ladder.
func (p *process) wait(c *connection, commands *commands) {
	var l ladder
	defer l.end()
	stopping, stop, gone := p.supervisor.stopping, commands.stop, commands.gone
	for {
		select {
		case <-p.child.done:
			return
		case <-stop:
			stop = nil
			p.begin(&l, p.grace)
		case <-gone:
			gone = nil
			p.begin(&l, p.grace)
		case <-stopping:
			stopping = nil
			_ = c.report(wire.Report{Stopping: &wire.Empty{}})
			limit := p.supervisor.Termination
			p.begin(&l, grace{limit / 5, limit * 3 / 5})
		case <-l.timer():
			p.climb(&l)
		}
	}
}

func (p *process) begin(l *ladder, g grace) {
	p.sweeper.note(p.child.id) // while the family is together
	l.begin(time.Now(), g)
}

// climb does the next step of W18.7.
func (p *process) climb(l *ladder) {
	p.sweeper.note(p.child.id)
	sig := l.next(time.Now())
	p.supervisor.reaper.signal(p.child, sig)
	if sig == unix.SIGTERM {
		// One that is stopped (SIGSTOP) would not see it.
		p.supervisor.reaper.signal(p.child, unix.SIGCONT)
	}
}

func (p *process) sweep() (killed int, clean bool) {
	p.supervisor.sweeps.Lock()
	defer p.supervisor.sweeps.Unlock()
	return p.sweeper.sweep()
}

func exitOf(status unix.WaitStatus, tail []string) *wire.Exit {
	e := &wire.Exit{Code: status.ExitStatus(), StderrTail: tail} // -1 unless it exited
	if status.Signaled() {
		e.Signal = signalName(status.Signal())
	}
	return e
}
