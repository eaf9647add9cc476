package relay

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// stallTime is how long the peer may take for what waits for it, at most
// maxUnsent bytes. It always reads, so else it is stopped.
const stallTime = 10 * time.Second

// Conn is one side of a relay. One goroutine calls Next, which is what moves
// the streams; all else may be called concurrently and never waits for the
// peer, but for Read and Write of the streams and Flush.
type Conn struct {
	conn  net.Conn
	now   *Nonblocking // of conn, for the one that is writing
	in    *bufio.Reader
	line  []byte
	stall time.Duration

	// In is the stream that the peer writes, Out the one that it reads.
	In  *Reader
	Out *Writer

	mu   sync.Mutex
	err  error // why the connection has ended
	idle sync.Cond

	// What waits to be sent: out is filled by everybody and taken whole by the
	// one that is writing.
	out, spare []byte
	unsent     int // bytes in out and in the hands of the writer
	writing    bool
	closing    bool // with the last of them
	mute       bool // nobody takes them any more
}

// New begins to relay over conn, of which read holds what was received before.
// closed is called once when the peer does not want Out any more, on the
// goroutine of Next; nil for nothing.
func New(conn *net.UnixConn, read io.Reader, closed func()) (*Conn, error) {
	raw, err := conn.SyscallConn()
	if err == nil {
		err = conn.SetDeadline(time.Time{}) // whoever had it before may have left one
	}
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, now: NewNonblocking(raw), in: bufio.NewReaderSize(read, header+MaxData), stall: stallTime}
	c.idle.L = &c.mu
	c.In = newReader(c)
	c.Out = newWriter(c, closed)
	return c, nil
}

// Next returns the next control line, valid until the next call, and serves
// the streams until it comes. max bounds it. After an error, which is the end
// of the connection, the streams have ended too: what has been received can
// still be read.
func (c *Conn) Next(max int) ([]byte, error) {
	for {
		k, n, err := c.header(max)
		if err == nil {
			err = c.frame(k, n)
		}
		if err != nil {
			c.fail(err)
			return nil, err
		}
		if k == kindLine {
			return c.line, nil
		}
	}
}

func (c *Conn) header(max int) (kind, int, error) {
	raw, err := c.in.Peek(header)
	if len(raw) > 0 {
		err = whole(err)
	}
	if err != nil {
		return 0, 0, err
	}
	k, n, err := parseHeader([header]byte(raw), max)
	if err == nil {
		_, err = c.in.Discard(header)
	}
	return k, n, err
}

// frame takes what belongs to a header.
func (c *Conn) frame(k kind, n int) error {
	if k == kindLine {
		c.line = append(c.line[:0], make([]byte, n)...)
		_, err := io.ReadFull(c.in, c.line)
		return whole(err)
	}
	body, err := c.in.Peek(n) // the buffer has room for any other frame
	if err != nil {
		return whole(err)
	}
	switch k {
	case kindData:
		err = c.In.receive(body)
	case kindEOF:
		err = c.In.finish()
	case kindClosed:
		c.Out.refused()
	case kindCredit:
		err = c.Out.grant(binary.BigEndian.Uint32(body))
	}
	if err == nil {
		_, err = c.in.Discard(n)
	}
	return err
}

// whole makes the end of the connection inside a frame one that shows.
func whole(err error) error {
	if err == io.EOF { //nolint:errorlint // what bufio and io return
		return io.ErrUnexpectedEOF
	}
	return err
}

// fail ends everything with the first cause.
func (c *Conn) fail(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed(cause)
}

// failed is fail with mu held.
func (c *Conn) failed(cause error) {
	if c.err != nil {
		return
	}
	c.err = cause
	c.out, c.spare = nil, nil
	c.unsent, c.mute = 0, true
	_ = c.conn.Close() // ends Next and a write in progress
	c.In.wake.Broadcast()
	c.Out.wake.Broadcast()
	c.idle.Broadcast()
}
