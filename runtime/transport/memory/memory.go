// Package memory connects a client and a server of the same process: a
// peer.Link on one side, the conversation of transport/duplex on the other, and
// between them two bounded queues instead of pipes.
//
//	peer.Peer ─ Send ─► queue ─► duplex.Conn ─► Server
//	          ◄ Deliver ─ queue ◄─ Wire ◄──────┘
//
// It behaves as transport/stdio does: order, limits, backpressure, cancel by
// notification, the end of input, whole messages only. It must not know what
// the messages say. Messages are passed on without being copied; neither side
// may change them.
package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/duplex"
	"github.com/fairlead-dev/fairlead/runtime/transport/queue"
)

// ErrClosed: this link was closed.
var ErrClosed = errors.New("memory: closed")

// Defaults of Options.
const (
	DefaultMaxMessageBytes = 16 << 20
	DefaultQueueMessages   = 256
	DefaultDrainTime       = 5 * time.Second
	DefaultRequestTimeout  = 5 * time.Minute
	DefaultConcurrent      = 64
)

// excerpt is how much of a lost message is shown.
const excerpt = 1 << 10

// Options say how the server's side is served. The zero value works.
type Options struct {
	// Revisions are those that are served; empty means all.
	Revisions mcp.Offer
	// Receive and Send are the server's middleware stacks (D4).
	Receive, Send middleware.Middleware
	// Identity is who the client is; nil is anonymous.
	Identity *auth.Identity
	// Instance begins the ids of requests to the client.
	Instance string
	// MaxMessageBytes bounds one message, either way [16 MiB].
	MaxMessageBytes int
	// QueueMessages bounds what waits, either way [256]; their bytes are
	// bounded by MaxMessageBytes. Producers wait at the bound.
	QueueMessages int
	// RequestTimeout bounds one request [5 min]; negative means no bound.
	RequestTimeout time.Duration
	// MaxConcurrent bounds requests that the Server works on [64].
	MaxConcurrent int
	// DrainTime is how long requests may still take after CloseInput [5 s].
	DrainTime time.Duration
	// Budget bounds the bytes of requests in flight; nil means one of its own.
	Budget   *stream.Budget
	Observer *hook.Observer
}

// Link is the client's end of a pair; see Connect. All methods may be called
// concurrently.
type Link struct {
	o        Options
	conn     *duplex.Conn
	toServer *queue.Queue
	toClient *queue.Queue
	receiver peer.Receiver

	once  sync.Once
	ended chan struct{} // closed with err
	err   error
	wg    sync.WaitGroup
}

var _ peer.Link = (*Link)(nil)

// Connect makes a pair with a Server at the other end. The Link does nothing
// before Start; whoever starts it closes it.
func Connect(server dispatch.Server, o Options) *Link {
	set(&o.MaxMessageBytes, DefaultMaxMessageBytes)
	set(&o.QueueMessages, DefaultQueueMessages)
	set(&o.DrainTime, DefaultDrainTime)
	set(&o.MaxConcurrent, DefaultConcurrent)
	if o.RequestTimeout == 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	if o.Budget == nil {
		o.Budget = &stream.Budget{Observer: o.Observer}
	}
	l := &Link{
		o: o, ended: make(chan struct{}),
		toServer: queue.New(o.QueueMessages, o.MaxMessageBytes, ErrClosed),
		toClient: queue.New(o.QueueMessages, o.MaxMessageBytes, ErrClosed),
	}
	l.conn = duplex.New(duplex.Config{
		Dispatcher: &dispatch.Dispatcher{
			Server: server, Binding: mcp.Stdio, Pod: o.Instance, Receive: o.Receive, Send: o.Send, Observer: o.Observer,
			Offer:         func() mcp.Offer { return o.Revisions },
			Timeout:       func() time.Duration { return o.RequestTimeout },
			MaxConcurrent: func() int { return o.MaxConcurrent },
		},
		Sessions: &session.Registry{Streams: &stream.Store{Budget: o.Budget, Observer: o.Observer}, Binding: mcp.Stdio.String(), Observer: o.Observer},
		Wire:     (*wire)(l),
		Identity: o.Identity, Patient: true, Budget: o.Budget, Observer: o.Observer,
	})
	return l
}

func set[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Start implements peer.Link.
func (l *Link) Start(r peer.Receiver) {
	l.receiver = r
	l.wg.Go(l.serve)
	l.wg.Go(l.listen)
}

// Inline implements peer.Link.
func (l *Link) Inline() bool { return false }

// Send implements peer.Link.
func (l *Link) Send(ctx context.Context, out *peer.Outgoing) error {
	err := l.toServer.Push(ctx, out.Raw)
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && !l.isOver() {
		return cause
	}
	return &peer.Failure{Reason: peer.Ended, NotDelivered: true, Err: err}
}

// CloseInput says that the client sends no more (W18.7): what it asked is
// still answered, then the Link ends.
func (l *Link) CloseInput() { l.toServer.Finish() }

// Close implements peer.Link: both directions end at once.
func (l *Link) Close(cause error) {
	if cause == nil {
		cause = ErrClosed
	}
	l.end(cause, hook.EndGone, dispatch.ErrDisconnected)
}

// Shutdown ends the pair from the server's side: what is in flight gets an
// error with the reason "draining", and then the Link ends. It does not wait.
func (l *Link) Shutdown(cause error) {
	l.conn.Close(hook.EndShutdown, fmt.Errorf("%w: %w", dispatch.ErrShutdown, cause))
	l.toServer.Finish()
}

// Wait returns when nothing of the Link runs any more but handlers that ignore
// their context. Call it after Close.
func (l *Link) Wait() { l.wg.Wait() }

func (l *Link) isOver() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func (l *Link) end(err error, reason hook.EndReason, cause error) {
	l.once.Do(func() {
		l.err = err
		close(l.ended)
		l.conn.Close(reason, cause)
		l.toServer.Fail(err)
		l.toClient.Fail(err)
	})
}

// serve is the server's reader.
func (l *Link) serve() {
	for last := false; !last; {
		var msgs [][]byte
		msgs, last = l.toServer.Take()
		for _, raw := range msgs {
			if len(raw) > l.o.MaxMessageBytes {
				l.conn.TooLarge(salvage.Bytes(raw))
			} else if err := l.conn.Receive(raw); err != nil {
				_ = l.toClient.Push(context.Background(), l.conn.Unreadable(err)) // ends with the Link
			}
		}
	}
	l.conn.InputEnded()
	patience := time.NewTimer(l.o.DrainTime)
	defer patience.Stop()
	select {
	case <-l.conn.Idle():
	case <-patience.C:
	case <-l.ended:
	}
	l.conn.Close(hook.EndGone, dispatch.ErrDisconnected)
	l.toClient.Finish()
}

// listen is the client's reader.
func (l *Link) listen() {
	for last := false; !last; {
		var msgs [][]byte
		msgs, last = l.toClient.Take()
		for _, raw := range msgs {
			if len(raw) > l.o.MaxMessageBytes {
				l.receiver.Broken(salvage.Bytes(raw), raw[:min(len(raw), excerpt)], peer.TooLarge)
				continue
			}
			l.receiver.Deliver(raw)
		}
	}
	l.end(ErrClosed, hook.EndGone, dispatch.ErrDisconnected)
	l.receiver.Ended(l.err)
}

// wire is the server's way to the client.
type wire Link

var _ duplex.Wire = (*wire)(nil)

// Send implements duplex.Wire; it waits, since nobody else is served here.
func (w *wire) Send(raw []byte) error { return w.toClient.Push(context.Background(), raw) }

// SendWait implements duplex.Wire.
func (w *wire) SendWait(ctx context.Context, raw []byte) error { return w.toClient.Push(ctx, raw) }

// Push implements duplex.Wire.
func (w *wire) Push(raw []byte) error {
	full, err := w.toClient.Try(raw)
	if full {
		w.o.Observer.Drop(hook.DropOverflow)
		return stream.ErrOverflow
	}
	return err
}
