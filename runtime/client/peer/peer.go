package peer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// Defaults of Config.
const (
	DefaultMaxPending = 1024
	DefaultMaxReverse = 64
)

// closeTimeout bounds what is said to a server after the caller has gone.
const closeTimeout = 5 * time.Second

// replyTimeout bounds the delivery of an answer to a server's request.
const replyTimeout = 30 * time.Second

// Handler serves what the server sends by itself.
type Handler interface {
	// Request answers a request of the server, on a goroutine of its own.
	// Exactly one of the results is set. ctx ends when the server cancels it,
	// when the call it belongs to has ended, and with the leg.
	Request(ctx context.Context, in Incoming) (result []byte, err *jsonrpc.Error)
	// Notification takes a notification; progress carries the caller's own
	// token again. With in.Call set it is called before that call's Call
	// returns and must not outlive it; the others come one after another, on
	// a goroutine that belongs to nobody's call.
	Notification(in Incoming)
}

// Incoming is a message of the server with the call it belongs to, if that is
// known (B6.1).
type Incoming struct {
	Msg  *jsonrpc.Message
	Call *Call
	// Certain says that Call is no conclusion from what is in flight: the
	// message came on that call's own stream.
	Certain bool
	// MayWait says that a Handler that waits delays nothing but this call: it
	// runs on the call's own goroutine (P18).
	MayWait bool
}

// Config describes a Peer. Zero values mean the defaults.
type Config struct {
	// Handler may be nil: requests are then refused with -32601,
	// notifications dropped.
	Handler Handler
	Hooks   Hooks
	// MaxPending bounds calls in flight; more fail with Busy.
	MaxPending int
	// MaxReverse bounds the server's requests in flight, those included whose
	// answers it has not taken yet; more are answered
	// with -32603.
	MaxReverse int
	// Ended is called once when the leg has ended, whoever ended it, before
	// what is in flight is resolved: whoever hears of the end through a call
	// finds that its owner knows already. It must not block.
	Ended func(*Failure)
	// Send and Receive see every message that goes to the server and comes
	// from it (D4); nil costs nothing. Links run where they may wait: on the
	// caller's goroutine, or on one that delays nobody else.
	Send, Receive middleware.Middleware
	// Stateless: the server is of a revision without a handshake. It makes no
	// requests, and whatever looks like one is dropped, because no answer may
	// be written to it (W18.4).
	Stateless bool
	// Budget bounds the bytes of notifications that wait for their consumer;
	// what does not fit goes, oldest first. It may be nil.
	Budget Budget
}

// Peer is the client end of one leg. All methods may be called concurrently.
// Close ends it and its Link; it also ends by itself with the Link.
type Peer struct {
	cfg           Config
	link          Link
	send, receive *middleware.Stack

	mute atomic.Bool // see Stateless

	mu        sync.Mutex
	revision  string // what initialize agreed on
	next      int64
	pending   map[int64]*Call
	lasting   map[int64]*Call // answered, but their tokens are still good
	reverse   map[jsonrpc.ID]*reverseCall
	replying  int // answers to the server on their way
	idleSince time.Time
	ended     error

	ctx      context.Context // the leg's life; ended is set before it ends
	cancel   context.CancelCauseFunc
	inbox    inbox
	slots    chan struct{} // messages that nobody waits for, on their way
	handlers sync.WaitGroup
}

// New makes a Peer on link and starts it.
func New(link Link, cfg Config) *Peer {
	if cfg.MaxPending <= 0 {
		cfg.MaxPending = DefaultMaxPending
	}
	if cfg.MaxReverse <= 0 {
		cfg.MaxReverse = DefaultMaxReverse
	}
	p := &Peer{
		cfg:       cfg,
		link:      link,
		send:      middleware.NewStack(cfg.Send),
		receive:   middleware.NewStack(cfg.Receive),
		pending:   make(map[int64]*Call),
		reverse:   make(map[jsonrpc.ID]*reverseCall),
		idleSince: time.Now(),
		slots:     make(chan struct{}, 32),
	}
	p.mute.Store(cfg.Stateless)
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.inbox.budget = cfg.Budget
	link.Start(p)
	return p
}

// Stateless is Config.Stateless for whoever finds out later.
func (p *Peer) Stateless() { p.mute.Store(true) }

// Notify sends a notification. The error is that of Link.Send.
func (p *Peer) Notify(ctx context.Context, method string, params []byte) error {
	if err := p.Err(); err != nil {
		return err
	}
	m := p.message(jsonrpc.KindNotification, method, "")
	m.Params = params
	if p.send != nil {
		return p.announced(ctx, m)
	}
	return p.link.Send(ctx, outgoing(m))
}

// Idle tells since when nothing has been in flight, in either direction; ok is
// false while something is.
func (p *Peer) Idle() (since time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idleSince, len(p.pending) == 0 && len(p.reverse) == 0
}

// InFlight is the number of calls that wait for an answer.
func (p *Peer) InFlight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// Pending is a call that waits for its answer.
type Pending struct {
	Method string
	Params []byte // as the caller gave them
}

// Waiting lists the calls that wait for an answer: not those that wait for news,
// and not those that were made aside. upTo leaves out what came after the newest
// of an earlier list; 0 leaves out none.
func (p *Peer) Waiting(upTo int64) (calls []Pending, newest int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, c := range p.pending {
		if c.method != mcp.MethodListen && !c.aside && (upTo == 0 || id <= upTo) {
			calls = append(calls, Pending{c.method, c.given})
		}
	}
	return calls, p.next
}

// Asking reports whether requests of the server are in flight: it waits itself.
func (p *Peer) Asking() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reverse) > 0
}

// Done is closed when the leg has ended.
func (p *Peer) Done() <-chan struct{} { return p.ctx.Done() }

// Err is why the leg ended, a *Failure; nil while it lives.
func (p *Peer) Err() error {
	select {
	case <-p.ctx.Done():
		return p.ended
	default:
		return nil
	}
}

// Close ends the leg: every pending call and every handler's ctx ends with
// cause (nil: Closed). It is idempotent and does not wait for the server.
func (p *Peer) Close(cause error) {
	p.End(cause)
	p.link.Close(cause)
}

// End is Close without closing the Link, for owners that let the server finish
// in its own time; what it still sends is dropped.
func (p *Peer) End(cause error) { p.end(&Failure{Reason: Closed, Err: cause}) }

// Wait returns when every handler has returned. Only after Done.
func (p *Peer) Wait() { p.handlers.Wait() }

// Ended implements Receiver.
func (p *Peer) Ended(err error) { p.end(&Failure{Reason: Ended, Err: err}) }

// end resolves everything with f, once.
func (p *Peer) end(f *Failure) {
	p.mu.Lock()
	if p.ended != nil {
		p.mu.Unlock()
		return
	}
	p.ended = f
	calls := p.pending
	p.pending, p.lasting, p.reverse = nil, nil, nil
	p.mu.Unlock()
	if p.cfg.Ended != nil {
		p.cfg.Ended(f)
	}
	for _, c := range calls {
		c.settle(settled{err: f})
	}
	p.cancel(f) // and with it every handler's ctx
	p.inbox.end()
}

// touch notes that something ended; mu is held.
func (p *Peer) touch() {
	if len(p.pending) == 0 && len(p.reverse) == 0 {
		p.idleSince = time.Now()
	}
}
