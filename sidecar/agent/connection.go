package agent

import (
	"bytes"
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// connection is a control connection whose request was answered.
type connection struct {
	*net.UnixConn
	reply wire.Reply
	// fds came with the reply; lost tells that more were sent.
	fds  []int
	lost bool
	// rest was read beyond the reply.
	rest []byte
}

// exchange sends the request and reads the reply with its descriptors.
func (c *connection) exchange(line []byte) error {
	// A refusal may come before the whole request is read (limit), so a
	// failed write is only believed when there is no reply.
	_, werr := c.Write(line)
	if err := c.readReply(); err != nil {
		if werr != nil {
			return werr
		}
		return err
	}
	return nil
}

func (c *connection) readReply() error {
	var got []byte
	buf := make([]byte, 4<<10)
	// Room for two descriptors; the kernel closes what does not fit.
	oob := make([]byte, unix.CmsgSpace(2*4))
	for {
		n, oobn, flags, _, err := c.ReadMsgUnix(buf, oob)
		if ferr := c.keep(oob[:oobn]); ferr != nil {
			return ferr
		}
		c.lost = c.lost || flags&unix.MSG_CTRUNC != 0
		if c.lost && len(c.fds) == 2 {
			return &Error{Code: CodeProtocol, Detail: "more than two descriptors came"}
		}
		if n == 0 && err == nil {
			err = io.ErrUnexpectedEOF // ReadMsgUnix has no EOF of its own
		}
		if err != nil {
			return err
		}
		got = append(got, buf[:n]...)
		if i := bytes.IndexByte(got, '\n'); i >= 0 {
			c.rest = got[i+1:]
			c.reply, err = wire.ParseReply(got[:i])
			return protocol(err)
		}
		if len(got) > wire.MaxReport {
			return &Error{Code: CodeProtocol, Err: wire.ErrTooLong}
		}
	}
}

// keep takes ownership of the descriptors in a control message.
func (c *connection) keep(oob []byte) error {
	if len(oob) == 0 {
		return nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return protocol(err)
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return protocol(err)
		}
		c.fds = append(c.fds, fds...)
	}
	return nil
}

// discard closes the connection and what came with it.
func (c *connection) discard() {
	c.Close()
	c.drop()
}

// drop closes what came with it.
func (c *connection) drop() {
	for _, fd := range c.fds {
		unix.Close(fd)
	}
	c.fds = nil
}

// protocol marks an answer that no agent gives; another version is its own
// kind.
func protocol(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, wire.ErrVersion):
		return err
	}
	return &Error{Code: CodeProtocol, Err: err}
}
