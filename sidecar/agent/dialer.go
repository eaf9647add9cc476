package agent

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// dialTimeout bounds Start and Check when their context has no deadline.
const dialTimeout = 10 * time.Second

// Dialer reaches the agent of this pod. The zero value is not usable; it may
// be copied and used concurrently.
type Dialer struct {
	// Socket is the path of the agent's socket, under 100 bytes.
	Socket string
	// Started is told of each process that was started: whether its streams
	// are relayed because its pipes could not be passed. It may be nil, and is
	// called by Start.
	Started func(relayed bool)
}

// Start starts a process. Errors are *Error. ctx bounds the start only (10 s
// if it has no deadline), not the process.
func (d Dialer) Start(ctx context.Context, req StartRequest) (*Process, error) {
	start, err := req.wire()
	if err != nil {
		return nil, err
	}
	c, err := d.ask(ctx, wire.Request{V: wire.Version, Start: start})
	if err != nil {
		return nil, err
	}
	if c.reply.Started == nil {
		c.discard()
		return nil, &Error{Code: CodeProtocol, Detail: "the answer to start is none"}
	}
	p, err := newProcess(c)
	if err != nil {
		c.discard()
		return nil, err
	}
	if d.Started != nil {
		d.Started(p.Relayed)
	}
	return p, nil
}

// Check asks whether an agent listens that speaks our version. It starts
// nothing and costs one round trip. Errors are *Error. ctx as in Start.
func (d Dialer) Check(ctx context.Context) error {
	c, err := d.ask(ctx, wire.Request{V: wire.Version, Ping: &wire.Empty{}})
	if err != nil {
		return err
	}
	defer c.discard()
	if c.reply.Pong == nil {
		return &Error{Code: CodeProtocol, Detail: "the answer to ping is none"}
	}
	return nil
}

// ask opens a connection and makes its one request. On success the caller
// owns the connection and the descriptors that came with the reply.
func (d Dialer) ask(ctx context.Context, req wire.Request) (*connection, error) {
	if err := socket.CheckPath(d.Socket); err != nil {
		return nil, &Error{Code: CodeUnreachable, Err: err}
	}
	line, err := wire.Encode(req, wire.MaxStart)
	if err != nil {
		return nil, &Error{Code: CodeMalformed, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var nd net.Dialer
	conn, err := nd.DialContext(ctx, "unix", d.Socket)
	if err != nil {
		return nil, failed(ctx, err)
	}
	c := &connection{UnixConn: conn.(*net.UnixConn)}
	// Breaking the deadline rather than closing keeps one owner of the
	// connection; what has arrived by then is discarded below.
	interrupted := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	err = c.exchange(line)
	if !interrupted() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.discard()
		return nil, failed(ctx, err)
	}
	if e := c.reply.Error; e != nil {
		c.discard()
		return nil, refusal(e.Code, e.Message)
	}
	return c, nil
}

// failed classes an error of the exchange.
func failed(ctx context.Context, err error) error {
	var e *Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &Error{Code: CodeCanceled, Err: context.Cause(ctx)}
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Err: err}
	case errors.As(err, &e):
		return e
	case errors.Is(err, wire.ErrVersion):
		return &Error{Code: CodeVersion, Err: err}
	}
	return &Error{Code: CodeUnreachable, Err: err}
}
