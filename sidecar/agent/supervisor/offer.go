package supervisor

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// offer answers a start. It passes the pipes if it can, and learns from the
// peer whether they have arrived: some runtimes carry a message and lose the
// descriptors that came with it. Else their bytes are to be relayed (P11).
func (s *Supervisor) offer(c *connection, pid, stdin, stdout int) (relayed bool, err error) {
	if s.Relay {
		s.relays("as the flag says")
		return true, c.started(pid, wire.WayRelay)
	}
	switch err := c.started(pid, wire.WayDescriptors, stdin, stdout); {
	case gone(err):
		return false, err
	case err != nil: // and so nothing of it has gone out
		s.relays("descriptors cannot be passed: " + err.Error())
		return true, c.started(pid, wire.WayRelay)
	}
	line, err := c.first(wire.MaxCommand, s.stopping, s.Termination/5)
	if err != nil {
		return false, err
	}
	choice, err := wire.ParseCommand(line)
	switch {
	case err != nil:
		return false, err
	case choice.Way == wire.WayRelay:
		s.relays("descriptors do not arrive")
		return true, nil
	case choice.Way == "":
		return false, errors.New("it does not say whether the pipes have arrived")
	}
	return false, nil
}

// started answers that a process runs.
func (c *connection) started(pid int, way string, fds ...int) error {
	return c.reply(wire.Reply{Started: &wire.Started{PID: pid, Way: way}}, fds...)
}

// gone reports a failure to write that is the peer's doing.
func gone(err error) bool {
	for _, cause := range []error{os.ErrDeadlineExceeded, unix.EPIPE, unix.ECONNRESET, unix.ENOTCONN} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// relays tells once that streams are relayed: it costs.
func (s *Supervisor) relays(why string) {
	s.relaying.Do(func() { s.Log.Printf("relays the streams of processes over the socket: %s", why) })
}
