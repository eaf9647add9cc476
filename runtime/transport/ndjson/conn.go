package ndjson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/transport/queue"
)

// Errors that a Conn ends with, wrapped or as they are.
var (
	// ErrClosed: this side closed it.
	ErrClosed = errors.New("ndjson: closed")
	// ErrStalled: the peer took no bytes for WriteTimeout.
	ErrStalled = errors.New("ndjson: the peer does not read its input")
	// ErrEnded: the peer closed its output.
	ErrEnded = errors.New("ndjson: the peer closed its output")
)

// Defaults of Config.
const (
	DefaultMaxMessageBytes = 16 << 20
	DefaultWriteTimeout    = 30 * time.Second
	DefaultQueueMessages   = 256
)

// linger is how long answers are still read after the peer closed its input.
const linger = 2 * time.Second

// Config describes a Conn. In, Out and Deliver are required; zero values of
// the rest mean the defaults.
type Config struct {
	// In is the peer's input; the Conn closes it.
	In io.WriteCloser
	// Out is the peer's output; the Conn closes it.
	Out io.ReadCloser
	// Deliver is called with each line, in order, on the reader's goroutine.
	// It must not block on anything the peer or another reader has to do.
	Deliver func(Line)
	// Ended is called once, after the last Deliver, with what Err returns; of
	// a HalfOpen Conn with why reading ended.
	Ended func(error)
	// HalfOpen keeps writing when the peer has closed its output, which is how
	// a client says goodbye to a server (W18.7): the Conn then ends with
	// Finish or Close only.
	HalfOpen bool
	// MaxMessageBytes bounds one line from the peer.
	MaxMessageBytes int
	// WriteTimeout is how long the peer may take no byte before the Conn fails
	// with ErrStalled.
	WriteTimeout time.Duration
	// QueueMessages bounds the messages waiting to be written; their bytes are
	// bounded by MaxMessageBytes. Send waits at the bound.
	QueueMessages int
}

// Conn is a running pair of pipes. Between New and Start it already takes
// messages. All methods may be called concurrently.
type Conn struct {
	cfg     Config
	out     *queue.Queue
	direct  *direct
	rest    []byte // of a message that was sent past the queue; the writer's
	once    sync.Once
	err     error
	done    chan struct{} // closed with err
	written chan struct{} // closed when the writer has ended
	wg      sync.WaitGroup
}

// Open makes a Conn and starts it.
func Open(cfg Config) *Conn {
	c := New(cfg)
	c.Start()
	return c
}

// New makes a Conn that does not read or write yet.
func New(cfg Config) *Conn {
	if cfg.MaxMessageBytes <= 0 {
		cfg.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if cfg.WriteTimeout <= 0 {
		cfg.WriteTimeout = DefaultWriteTimeout
	}
	if cfg.QueueMessages <= 0 {
		cfg.QueueMessages = DefaultQueueMessages
	}
	c := &Conn{cfg: cfg, done: make(chan struct{}), written: make(chan struct{})}
	c.out = queue.New(cfg.QueueMessages, cfg.MaxMessageBytes, ErrClosed)
	c.direct = newDirect(cfg.In)
	return c
}

// Start begins reading and writing. Call it once.
func (c *Conn) Start() {
	c.wg.Go(c.read)
	c.wg.Go(c.write)
}

// Send queues one message. It waits only for room in the queue, until ctx
// ends; what goes wrong afterwards ends the Conn. msg must not change any more.
func (c *Conn) Send(ctx context.Context, msg []byte) error {
	if c.sendNow(msg) {
		return nil
	}
	return c.out.Push(ctx, msg)
}

// TrySend queues one message if there is room now; full tells that there was
// none.
func (c *Conn) TrySend(msg []byte) (full bool, err error) {
	if c.sendNow(msg) {
		return false, nil
	}
	return c.out.Try(msg)
}

// Finish is CloseInput that waits until all is written or ctx ends, and then
// closes the Conn. The error says why something was not written.
func (c *Conn) Finish(ctx context.Context) error {
	c.CloseInput()
	var err error
	select {
	case <-c.written:
		err = c.Err()
	case <-c.done:
		err = c.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.Close(nil)
	return err
}

// CloseInput closes the peer's input once everything queued is written (W18.7);
// reading goes on. It does not wait.
func (c *Conn) CloseInput() { c.out.Finish() }

// Close ends the Conn with a cause (nil: ErrClosed): both pipes are closed and
// what is queued is dropped. It is idempotent and does not wait for the peer.
func (c *Conn) Close(cause error) {
	if cause == nil {
		cause = ErrClosed
	}
	c.once.Do(func() {
		c.err = cause
		close(c.done)
		c.out.Fail(cause)
		// A close can wait for a write in progress where the descriptor has no
		// deadline, so neither the caller nor the reader does it.
		go func() { _ = c.cfg.In.Close() }()
		_ = c.cfg.Out.Close()
	})
}

// Done is closed when the Conn has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the Conn ended; nil before.
func (c *Conn) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Wait returns when both goroutines have ended, which needs the peer to have
// closed its ends or descriptors that know deadlines.
func (c *Conn) Wait() { c.wg.Wait() }

func (c *Conn) read() {
	r := NewReader(c.cfg.Out, c.cfg.MaxMessageBytes)
	for {
		line, err := r.Next()
		if err != nil && c.cfg.HalfOpen {
			c.ended(readError(err))
			return
		}
		if err != nil {
			c.Close(readError(err))
			break
		}
		select {
		case <-c.done:
			// Closed on this side: what still arrives is nobody's.
		default:
			c.cfg.Deliver(line)
		}
	}
	c.ended(c.err)
}

func (c *Conn) ended(err error) {
	if c.cfg.Ended != nil {
		c.cfg.Ended(err)
	}
}

func readError(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrEnded
	}
	return fmt.Errorf("%w: %w", ErrEnded, err)
}

func (c *Conn) write() {
	defer close(c.written)
	w := writer{
		dst:     c.cfg.In,
		timeout: c.cfg.WriteTimeout,
		stalled: func() { c.Close(ErrStalled) },
	}
	for {
		msgs, last := c.out.Take()
		if c.Err() != nil {
			c.rest = nil // dropped, as what was queued
		}
		if err := w.all(c.rest, msgs); err != nil {
			c.broken(err)
			return
		}
		c.rest = c.rest[:0]
		if last {
			_ = c.cfg.In.Close()
			return
		}
	}
}

// broken ends the Conn after a failed write. A peer that closed its input may
// have answers on the way, so the reader gets a moment to find the end itself.
func (c *Conn) broken(err error) {
	if errors.Is(err, ErrStalled) {
		c.Close(err)
		return
	}
	err = fmt.Errorf("%w: %w", ErrEnded, err)
	c.out.Fail(err)
	time.AfterFunc(linger, func() { c.Close(err) })
}
