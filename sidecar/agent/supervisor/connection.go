package supervisor

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/relay"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// connection is one control connection. Only its own goroutine writes to it.
type connection struct {
	*net.UnixConn
	lines  *wire.Lines
	frames *relay.Conn // in the place of lines once the streams are relayed
	// send writes a message of which oob may be descriptors.
	send func(p, oob []byte) (n int, err error)
}

func newConnection(conn *net.UnixConn) *connection {
	// The lines are read without room for descriptors: what a peer sends
	// along is closed by the kernel.
	return &connection{UnixConn: conn, lines: wire.NewLines(conn), send: func(p, oob []byte) (int, error) {
		n, _, err := conn.WriteMsgUnix(p, oob, nil)
		return n, err
	}}
}

// serve reads the request and does it.
func (s *Supervisor) serve(c *connection) {
	defer c.Close()
	req, err := c.request(s.stopping)
	switch {
	case errors.Is(err, wire.ErrVersion):
		c.refuse(refuse(agent.CodeVersion, "%v", err))
	case errors.Is(err, errSilent):
	case err != nil:
		c.refuse(refuse(agent.CodeMalformed, "%v", err))
	case req.Ping != nil:
		_ = c.reply(wire.Reply{Pong: &wire.Pong{Processes: s.processes(), Max: s.MaxProcesses}})
	default:
		s.start(c, req.Start)
	}
}

// errSilent is a peer that went away, or said nothing in time.
var errSilent = errors.New("no request came")

// request reads the first line; when stopping closes it gives up.
func (c *connection) request(stopping <-chan struct{}) (wire.Request, error) {
	line, err := c.first(wire.MaxStart, stopping, 0)
	switch {
	case errors.Is(err, wire.ErrTooLong):
		return wire.Request{}, err
	case err != nil:
		return wire.Request{}, errSilent
	}
	return wire.ParseRequest(line)
}

// first reads a line that a peer has to send at once. When stopping closes it
// waits for grace only.
func (c *connection) first(max int, stopping <-chan struct{}, grace time.Duration) ([]byte, error) {
	c.SetReadDeadline(time.Now().Add(firstLineTimeout))
	read, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-stopping:
			c.SetReadDeadline(time.Now().Add(grace))
		case <-read:
		}
	}()
	line, err := c.lines.Next(max)
	close(read)
	<-watched
	c.SetReadDeadline(time.Time{})
	return line, err
}

// start runs one process for c, from its request until nothing is left of it.
func (s *Supervisor) start(c *connection, req *wire.Start) {
	if err := s.reserve(req.Key); err != nil {
		c.refuse(err)
		return
	}
	defer s.release(req.Key)
	p, stdin, stdout, err := s.spawn(req)
	if err != nil {
		c.refuse(err)
		return
	}
	relayed, err := s.offer(c, p.child.pid, stdin, stdout)
	if err == nil && relayed {
		p.streams, err = newStreams(c, stdin, stdout)
	}
	if p.streams == nil {
		// From here on the peer alone holds the child's pipe ends.
		unix.Close(stdin)
		unix.Close(stdout)
	}
	if err != nil {
		// The child sees the end of its stdin, and the connection's end below
		// starts the clock.
		s.Log.Printf("%.8s ends: its control connection: %v", p.key, err)
		c.Close()
	}
	p.supervise(c)
}

// refuse answers with err, which is an *agent.Error, and closes. A peer that
// does not take the answer has gone.
func (c *connection) refuse(err error) {
	var e *agent.Error
	if !errors.As(err, &e) {
		e = &agent.Error{Code: agent.CodeExec, Detail: err.Error()}
	}
	_ = c.reply(wire.Reply{Error: &wire.Refusal{Code: string(e.Code), Message: e.Detail}})
	c.Close()
}

func (c *connection) reply(r wire.Reply, fds ...int) error {
	r.V = wire.Version
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	return c.write(r, oob)
}

// report sends a later line.
func (c *connection) report(r wire.Report) error {
	if c.frames == nil {
		return c.write(r, nil)
	}
	line, err := wire.Encode(r, wire.MaxReport)
	if err != nil {
		return err
	}
	return c.frames.WriteLine(line[:len(line)-1])
}

// next reads what the peer says once its process runs.
func (c *connection) next() ([]byte, error) {
	if c.frames == nil {
		return c.lines.Next(wire.MaxCommand)
	}
	return c.frames.Next(wire.MaxCommand)
}

// finish closes the connection when what was reported is on its way.
func (c *connection) finish() {
	if c.frames != nil {
		c.frames.Flush()
	}
	c.Close()
}

func (c *connection) write(v any, oob []byte) error {
	line, err := wire.Encode(v, wire.MaxReport)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(writeTimeout))
	n, err := c.send(line, oob)
	if err == nil && n < len(line) {
		_, err = c.Write(line[n:])
	}
	return err
}
