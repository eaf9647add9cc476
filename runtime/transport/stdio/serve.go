package stdio

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/duplex"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
)

// Defaults of Options.
const (
	DefaultDrainTime      = 5 * time.Second
	DefaultRequestTimeout = 5 * time.Minute
	DefaultConcurrent     = 64
)

// Options say how a server is served over pipes. The zero value works.
type Options struct {
	// Revisions are those that are served; empty means all.
	Revisions mcp.Offer
	// Receive and Send are the server's middleware stacks (D4).
	Receive, Send middleware.Middleware
	// Identity is who the client is; nil is anonymous: whoever holds the pipes
	// started this program (W18.10).
	Identity *auth.Identity
	// Instance begins the ids of requests to the client.
	Instance string
	// MaxMessageBytes bounds one line of the client [16 MiB].
	MaxMessageBytes int
	// QueueMessages bounds what waits to be written [256]; producers wait at
	// the bound (P18: the pipes serve nobody else).
	QueueMessages int
	// WriteTimeout is how long the client may read nothing before it counts as
	// gone [30 s].
	WriteTimeout time.Duration
	// RequestTimeout bounds one request [5 min]; negative means no bound.
	RequestTimeout time.Duration
	// MaxConcurrent bounds requests that the Server works on [64].
	MaxConcurrent int
	// DrainTime is how long requests may still take when the client has closed
	// its side, and how long their errors may take to be written when ctx ends
	// [5 s].
	DrainTime time.Duration
	// Budget bounds the bytes of requests in flight; nil means one of its own.
	Budget   *stream.Budget
	Observer *hook.Observer
}

// Serve serves a Server to the client at the other end of two pipes (W18), in
// every revision at once: a session begins with initialize, and requests of
// 2026-07-28 carry their own metadata. in is the client's output, out its
// input; both are closed in the end where they can be.
//
// It returns nil when the client has closed in: what it had asked for is
// answered first, for at most DrainTime. When ctx ends, what is in flight gets
// an error with the reason "draining", and the cause of ctx is returned. Any
// other end, such as a client that reads nothing, is returned as what it was.
// Handlers are told by their context, and not waited for.
//
// A read of in that nothing can interrupt (a file that is no pipe) outlives
// the call until it returns by itself.
func Serve(ctx context.Context, server dispatch.Server, o Options, in io.Reader, out io.Writer) error {
	f := newFront(server, o, in, out)
	f.conn.Start()
	defer f.pipes.Close(hook.EndGone, dispatch.ErrDisconnected)
	select {
	case err := <-f.ended:
		return f.drain(ctx, err)
	case <-f.conn.Done():
		return f.conn.Err()
	case <-ctx.Done():
		return f.stop(context.Cause(ctx))
	}
}

// front is one pair of pipes with a Server behind it.
type front struct {
	conn  *ndjson.Conn
	pipes *duplex.Conn
	ended chan error // reading has ended
	drainTime,
	writeTimeout time.Duration
}

func newFront(server dispatch.Server, o Options, in io.Reader, out io.Writer) *front {
	set(&o.DrainTime, DefaultDrainTime)
	set(&o.MaxConcurrent, DefaultConcurrent)
	set(&o.WriteTimeout, ndjson.DefaultWriteTimeout)
	if o.RequestTimeout == 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	if o.Budget == nil {
		o.Budget = &stream.Budget{Observer: o.Observer}
	}
	f := &front{ended: make(chan error, 1), drainTime: o.DrainTime, writeTimeout: o.WriteTimeout}
	f.conn = ndjson.New(ndjson.Config{
		In: closer(out), Out: readCloser(in), Deliver: f.deliver, HalfOpen: true,
		Ended:           func(err error) { f.ended <- err },
		MaxMessageBytes: o.MaxMessageBytes, WriteTimeout: o.WriteTimeout, QueueMessages: o.QueueMessages,
	})
	f.pipes = duplex.New(duplex.Config{
		Dispatcher: &dispatch.Dispatcher{
			Server: server, Binding: mcp.Stdio, Pod: o.Instance, Receive: o.Receive, Send: o.Send, Observer: o.Observer,
			Offer:         func() mcp.Offer { return o.Revisions },
			Timeout:       func() time.Duration { return o.RequestTimeout },
			MaxConcurrent: func() int { return o.MaxConcurrent },
		},
		Sessions: &session.Registry{Streams: &stream.Store{Budget: o.Budget, Observer: o.Observer}, Binding: mcp.Stdio.String(), Observer: o.Observer},
		Wire:     &wire{conn: f.conn, observer: o.Observer},
		Identity: o.Identity, Patient: true, Budget: o.Budget, Observer: o.Observer,
	})
	return f
}

func set[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// deliver takes one line on the reader's goroutine.
func (f *front) deliver(l ndjson.Line) {
	if l.TooLong {
		f.pipes.TooLarge(l.Salvaged)
		return
	}
	if err := f.pipes.Receive(l.Data); err != nil {
		_ = f.conn.Send(context.Background(), f.pipes.Unreadable(err)) // ends with the Conn
	}
}

// drain ends the conversation after the client's last word.
func (f *front) drain(ctx context.Context, err error) error {
	f.pipes.InputEnded()
	patience := time.NewTimer(f.drainTime)
	defer patience.Stop()
	select {
	case <-f.pipes.Idle():
	case <-patience.C:
	case <-f.conn.Done():
		return f.conn.Err()
	case <-ctx.Done():
		return f.stop(context.Cause(ctx))
	}
	f.pipes.Close(hook.EndGone, dispatch.ErrDisconnected)
	f.flush()
	if err == ndjson.ErrEnded { //nolint:errorlint // wrapped, it is another error
		return nil
	}
	return err
}

// stop ends it from this side.
func (f *front) stop(cause error) error {
	f.pipes.Close(hook.EndShutdown, fmt.Errorf("%w: %w", dispatch.ErrShutdown, cause))
	patience := time.NewTimer(f.drainTime)
	defer patience.Stop()
	select {
	case <-f.pipes.Idle():
	case <-f.conn.Done():
	case <-patience.C:
	}
	f.flush()
	return cause
}

// flush writes what is queued and closes the pipes.
func (f *front) flush() {
	ctx, stop := context.WithTimeout(context.Background(), f.drainTime)
	defer stop()
	_ = f.conn.Finish(ctx) // who does not read misses it
}

// wire is the way to the client.
type wire struct {
	conn     *ndjson.Conn
	observer *hook.Observer
}

var _ duplex.Wire = (*wire)(nil)

// Send implements duplex.Wire. It waits: the pipes serve this client alone, and
// one that reads nothing at all ends them after WriteTimeout.
func (w *wire) Send(raw []byte) error { return w.conn.Send(context.Background(), raw) }

// SendWait implements duplex.Wire.
func (w *wire) SendWait(ctx context.Context, raw []byte) error { return w.conn.Send(ctx, raw) }

// Push implements duplex.Wire. A broadcast is not held up by a client that does
// not read: it loses the message.
func (w *wire) Push(raw []byte) error {
	full, err := w.conn.TrySend(raw)
	if full {
		w.observer.Drop(hook.DropOverflow)
		return stream.ErrOverflow
	}
	return err
}

// closer makes out closable, whether it was or not.
func closer(out io.Writer) io.WriteCloser {
	if c, ok := out.(io.WriteCloser); ok {
		return c
	}
	return nopWriteCloser{out}
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

func readCloser(in io.Reader) io.ReadCloser {
	if c, ok := in.(io.ReadCloser); ok {
		return c
	}
	return io.NopCloser(in)
}
