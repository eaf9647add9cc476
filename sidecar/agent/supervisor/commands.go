package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/relay"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// commands reads what the sidecar wants of a running process.
type commands struct {
	// stop is closed by the first stop command, gone when the connection has
	// ended, by either side or by a line that makes no sense.
	stop, gone chan struct{}
}

func newCommands(c *connection, p *process) *commands {
	r := &commands{stop: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(r.gone)
		if err := r.read(c, p); err != nil {
			p.supervisor.Log.Printf("%.8s ends: its control connection: %v", p.key, err)
		}
	}()
	return r
}

// read returns nil when the peer is gone.
func (r *commands) read(c *connection, p *process) error {
	stop := r.stop
	for {
		line, err := c.next()
		var frame *relay.FrameError
		if errors.Is(err, wire.ErrTooLong) || errors.As(err, &frame) {
			return err
		}
		if err != nil {
			return nil //nolint:nilerr // however a connection ends, it is the peer's to end it
		}
		command, err := wire.ParseCommand(line)
		if err != nil {
			return err
		}
		if command.Way != "" {
			return errors.New("it chooses a way although it may not any more")
		}
		if command.Stop != nil {
			if stop != nil {
				close(stop)
				stop = nil
			}
			continue
		}
		sig, ok := signalOf(command.Signal)
		if !ok {
			return errors.New("it names an unknown signal")
		}
		p.supervisor.reaper.signal(p.child, sig)
	}
}

// signalOf knows the signals that a sidecar may send.
func signalOf(name string) (sig unix.Signal, ok bool) {
	switch name {
	case agent.SIGHUP:
		return unix.SIGHUP, true
	case agent.SIGINT:
		return unix.SIGINT, true
	case agent.SIGQUIT:
		return unix.SIGQUIT, true
	case agent.SIGKILL:
		return unix.SIGKILL, true
	case agent.SIGUSR1:
		return unix.SIGUSR1, true
	case agent.SIGUSR2:
		return unix.SIGUSR2, true
	case agent.SIGTERM:
		return unix.SIGTERM, true
	}
	return 0, false
}
