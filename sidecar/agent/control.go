package agent

import (
	"bytes"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/relay"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// control is a connection after its first exchange.
type control interface {
	// Next returns the agent's next line; for one goroutine only.
	Next(max int) ([]byte, error)
	// WriteLine sends a line, without its newline.
	WriteLine([]byte) error
	Close() error
}

// connect finds the way of the child's streams (P11). What comes after it
// depends on the way, so an agent that leaves the choice is told.
func (p *Process) connect(c *connection) error {
	offer := c.reply.Started.Way
	if offer == wire.WayRelay || offer == wire.WayDescriptors && (len(c.fds) == 0 || c.lost) {
		return p.relay(c, offer == wire.WayDescriptors)
	}
	if err := p.take(c); err != nil {
		return err
	}
	lines := &lineControl{connection: c, lines: wire.NewLines(c.received())}
	p.control = lines
	if offer != "" {
		// That it cannot be told is the end of the agent; Done tells.
		_ = lines.choose(wire.WayDescriptors)
	}
	return nil
}

// take makes the streams of the descriptors that came.
func (p *Process) take(c *connection) error {
	if len(c.fds) != 2 {
		return &Error{Code: CodeProtocol, Detail: "the answer came without the pipes"}
	}
	stdin, err := pipeEnd(c.fds[0], "stdin", unix.O_WRONLY)
	if err != nil {
		return err
	}
	stdout, err := pipeEnd(c.fds[1], "stdout", unix.O_RDONLY)
	if err != nil {
		stdin.Close()
		c.fds = c.fds[1:]
		return err
	}
	c.fds = nil
	p.Stdin, p.Stdout = stdin, stdout
	return nil
}

// relay has the streams copied. What came of the descriptors is of no use.
func (p *Process) relay(c *connection, choose bool) error {
	c.drop()
	if choose {
		if err := (&lineControl{connection: c}).choose(wire.WayRelay); err != nil {
			return &Error{Code: CodeUnreachable, Err: err}
		}
	}
	frames, err := relay.New(c.UnixConn, c.received(), nil)
	if err != nil {
		return &Error{Code: CodeUnreachable, Err: err}
	}
	p.Stdin, p.Stdout, p.control, p.Relayed = frames.Out, frames.In, frames, true
	return nil
}

// received is what comes after the reply.
func (c *connection) received() io.Reader {
	if len(c.rest) == 0 {
		return c.UnixConn
	}
	return io.MultiReader(bytes.NewReader(c.rest), c.UnixConn)
}

// lineControl is the control of a process whose pipes were passed.
type lineControl struct {
	*connection
	lines *wire.Lines
	mu    sync.Mutex // orders writes; held for at most commandTimeout
}

func (c *lineControl) Next(max int) ([]byte, error) { return c.lines.Next(max) }

func (c *lineControl) WriteLine(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.SetWriteDeadline(time.Now().Add(commandTimeout))
	_, err := c.Write(append(line, '\n'))
	return err
}

// choose answers the agent that it leaves the way to us.
func (c *lineControl) choose(way string) error {
	line, err := wire.Encode(wire.Command{Way: way}, wire.MaxCommand)
	if err != nil {
		return err
	}
	return c.WriteLine(line[:len(line)-1])
}
