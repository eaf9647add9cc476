package duplex

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// Bounds of one Conn.
const (
	// MaxHeld is how many requests may come before initialize is answered.
	MaxHeld = 64
	// MaxLane is how many notifications may wait for the Server.
	MaxLane = 256
	// MaxInFlight is how many requests of one connection may be unanswered;
	// more are refused.
	MaxInFlight = 1024
)

// errInputEnded ends reverse calls whose answer can no longer come.
var errInputEnded = errors.New("the client sends no more")

// Wire is the way to the client. Messages reach it in the order of the calls.
// They are whole, but may hold line ends between tokens. The methods may be
// called concurrently and fail once the way has ended.
type Wire interface {
	// Send takes an answer or a message of a running request. It may wait for
	// room only where the dispatcher serves this connection alone.
	Send(raw []byte) error
	// SendWait waits for room until ctx ends.
	SendWait(ctx context.Context, raw []byte) error
	// Push takes what belongs to no request and never waits: what does not fit
	// is refused, or the end of the connection.
	Push(raw []byte) error
}

// Config describes a Conn. Dispatcher, Sessions and Wire are required.
type Config struct {
	// Dispatcher and Sessions may be shared by the connections of one server.
	Dispatcher *dispatch.Dispatcher
	Sessions   *session.Registry
	Wire       Wire
	// Identity is who is at the other end; nil is anonymous.
	Identity *auth.Identity
	// Caller is whom limits count the client for (P22); nil: the principal.
	Caller dispatch.Caller
	// Key names the session in this process; empty means a random one.
	Key string
	// Patient says that the session does not end for being silent, because
	// the connection itself shows that the client is there. Otherwise the
	// clock of the handshake runs (R20); once something has come after
	// initialize the connection counts as use.
	Patient bool
	// Budget bounds the bytes of requests in flight; what does not fit is
	// refused. Nil means that the transport counts them itself.
	Budget *stream.Budget
	// SessionEnded is told when the session has ended while the connection
	// lives on. It must not block.
	SessionEnded func(cause error)
	Observer     *hook.Observer
}

// Conn is one conversation. Make it with New, end it with Close. All methods
// may be called concurrently; Receive is called in the order of arrival.
type Conn struct {
	cfg  Config
	base context.Context // of requests without a session
	end  context.CancelCauseFunc
	in   context.Context // ends when the client can say no more
	eof  context.CancelCauseFunc

	control lane // responses, cancels
	quick   lane // what is answered without the Server
	notices lane // notifications that the Server handles

	mu      sync.Mutex
	profile mcp.Profile // of the last message that told one
	legacy  *legacy     // nil: no session
	runs    map[jsonrpc.ID]*exchange
	active  int           // requests that have not ended, held ones included
	idle    chan struct{} // closed when active is next 0; nil if nobody waits
	closed  error
}

// New makes a Conn.
func New(cfg Config) *Conn {
	c := &Conn{cfg: cfg, runs: map[jsonrpc.ID]*exchange{}}
	if c.cfg.Key == "" {
		random := seal.NewRandom()
		c.cfg.Key = hex.EncodeToString(random[:])
	}
	c.base, c.end = context.WithCancelCause(context.Background())
	c.in, c.eof = context.WithCancelCause(c.base)
	c.profile, _ = mcp.Lookup(mcp.AssumedRevision)
	return c
}

// Principal is who is at the other end; empty is anonymous.
func (c *Conn) Principal() string { return c.cfg.Identity.Name() }

// Session is the present session; nil when there is none.
func (c *Conn) Session() dispatch.Session {
	if l := c.current(); l != nil {
		return l.Legacy
	}
	return nil
}

func (c *Conn) current() *legacy {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.legacy
}

// Idle returns a channel that is closed once no request is in flight.
func (c *Conn) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle != nil {
		return c.idle
	}
	idle := make(chan struct{})
	if c.active == 0 {
		close(idle)
		return idle
	}
	c.idle = idle
	return idle
}

// InputEnded says that the client sends no more. What it asked is still
// answered; what can only end with its help (reverse calls, listening) ends
// now.
func (c *Conn) InputEnded() {
	c.eof(errInputEnded)
	c.mu.Lock()
	var listening []*exchange
	for _, x := range c.runs {
		if x.listening {
			listening = append(listening, x)
		}
	}
	c.mu.Unlock()
	for _, x := range listening {
		x.cancel(dispatch.ErrDisconnected)
	}
}

// Close ends everything that is in flight with cause: with silence after
// dispatch.ErrDisconnected, else with an error each. The session ends for
// reason. It does not wait. Idempotent.
func (c *Conn) Close(reason hook.EndReason, cause error) {
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return
	}
	c.closed = cause
	l := c.legacy
	c.mu.Unlock()
	if l != nil {
		l.End(reason, cause)
	}
	c.end(cause)
}

// enter counts a request in; the error is why it is not taken, nil towards a
// client that is not there any more.
func (c *Conn) enter() (refusal *jsonrpc.Error, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(c.closed, dispatch.ErrDisconnected):
		return nil, false
	case c.closed != nil:
		return dispatch.Explain(c.closed), false
	case c.active >= MaxInFlight:
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests in flight").WithReason(mcp.ReasonBusy), false
	}
	c.active++
	return nil, true
}

func (c *Conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active--; c.active == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// say sends a message that answers something the client did.
func (c *Conn) say(raw []byte) { _ = c.cfg.Wire.Send(raw) }

func (c *Conn) refuse(id jsonrpc.ID, err *jsonrpc.Error) {
	if err != nil {
		c.say(jsonrpc.EncodeError(id, err))
	}
}

// push is how a session sends what belongs to no request.
type push struct{ wire Wire }

// Send implements session.Sender.
func (p push) Send(raw []byte) error { return p.wire.Push(raw) }
