package peer

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Request is one call to make.
type Request struct {
	Method string
	// Params is a raw object, or nil for none.
	Params []byte
	// Edits are applied to Params in the same splice that replaces the
	// progress token.
	Edits []strictjson.Edit
	// Token is the caller's own progress token as raw JSON; nil asks for no
	// progress. A token inside Params is replaced by ours then.
	Token []byte
	// Value travels to the Handler in Incoming.Call.
	Value any
	// Revision, Name and Fields as in Outgoing.
	Revision string
	Name     string
	Fields   []Field
	// GivenUp, unless nil, is called on the caller's goroutine when its context
	// has ended before an answer came, while the call still counts as in flight:
	// what the server says from then on, and names no request, may be about this
	// one (B6.1), and is not taken for another's before GivenUp has returned.
	GivenUp func()
	// Quiet: the server is not told when the caller gives up.
	Quiet bool
	// Aside: it is asked beside what callers want. What names no request is
	// never taken for its answer while there are others (R5).
	Aside bool
	// Lasting keeps the progress token alive after a result, until Release of
	// the Answer's Call or the end of the leg: a task goes on (W20.6).
	Lasting bool
}

// Answer is what the server said: exactly one member is set, raw.
type Answer struct {
	Result []byte
	Err    *jsonrpc.Error
	// Meta is result._meta, nil when there is none.
	Meta []byte
	// Call is set for a Lasting request with a result: release it.
	Call *Call
}

// Call is a request in flight.
type Call struct {
	id     int64
	method string
	value  any
	token  []byte // the caller's own progress token, nil when it gave none
	task   string // whose result it waits for; empty for none
	quiet  bool
	aside  bool
	inline bool
	given  []byte // Request.Params
	gone   func() // Request.GivenUp
	out    Outgoing
	box    mailbox
	asked  bool // the server has asked something that belongs to it; Peer.mu
	alone  bool // nothing is left to forget; its own goroutine's

	stop   context.CancelCauseFunc // inline links: ends Send
	over   atomic.Bool
	lasts  atomic.Bool // its token is good after the answer
	keeper *Peer       // that keeps it so; nil for none

	mu       sync.Mutex
	progress float64
	reported bool
}

// Method of the call.
func (c *Call) Method() string { return c.method }

// Value is Request.Value.
func (c *Call) Value() any { return c.value }

// errAnswered ends an inline Send whose answer came another way.
var errAnswered = errors.New("peer: answered on another stream")

// Call makes a request and returns its answer, a *Failure, or the cause of
// ctx. When ctx ends first the server is told (W19.1) and a late answer is
// dropped; initialize is never cancelled (W4.10).
func (p *Peer) Call(ctx context.Context, req Request) (Answer, error) {
	c, params, err := p.begin(&req)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	defer func() { p.forget(c, a.Err != nil) }()
	if p.send != nil {
		a, err = p.sent(ctx, c, req, params)
	} else {
		a, err = p.exchange(ctx, c, &req, params)
	}
	if req.Lasting && err == nil && a.Err == nil && p.last(c) {
		a.Call = c
	}
	return a, err
}

// exchange sends a call that has begun and waits for its answer.
func (p *Peer) exchange(ctx context.Context, c *Call, req *Request, params []byte) (a Answer, err error) {
	out := &c.out
	*out = Outgoing{
		Raw:      jsonrpc.EncodeRequest(c.wireID(), req.Method, params),
		Kind:     jsonrpc.KindRequest,
		ID:       c.id,
		Method:   req.Method,
		Revision: req.Revision,
		Name:     req.Name,
		Fields:   req.Fields,
	}
	if c.inline {
		a, err = p.inline(ctx, c, out)
	} else if err = p.link.Send(ctx, out); err == nil {
		a, err = p.await(ctx, c, out)
	} else if ctx.Err() != nil && ReasonOf(err) == "" {
		p.cancelled(ctx, c, out) // it may have arrived all the same
	}
	if err == nil && p.receive != nil {
		a = p.received(ctx, c, req.Revision, a)
	}
	return a, err
}

// begin registers the call and makes its params.
func (p *Peer) begin(req *Request) (*Call, []byte, error) {
	c := &Call{method: req.Method, value: req.Value, quiet: req.Quiet, aside: req.Aside, inline: p.link.Inline(), given: req.Params, gone: req.GivenUp}
	c.box.budget = p.cfg.Budget
	if !c.inline {
		c.box.ready = make(chan struct{}, 1)
	}
	if req.Method == mcp.MethodTasksResult {
		raw, _ := strictjson.Get(req.Params, "taskId")
		c.task, _ = strictjson.String(raw)
	}
	p.mu.Lock()
	if p.ended != nil {
		p.mu.Unlock()
		return nil, nil, p.ended
	}
	if len(p.pending) >= p.cfg.MaxPending {
		p.mu.Unlock()
		return nil, nil, &Failure{Reason: Busy, NotDelivered: true}
	}
	p.next++ // R6: integers from 1 upward, never reused (W1.3)
	c.id = p.next
	p.pending[c.id] = c
	p.mu.Unlock()

	params, err := c.params(req)
	if err != nil {
		p.forget(c, false)
		return nil, nil, err
	}
	return c, params, nil
}

// params applies the edits and puts our own progress token, which is the id,
// in place of the caller's (B11.4).
func (c *Call) params(req *Request) ([]byte, error) {
	edits := req.Edits
	if req.Token != nil {
		c.token = req.Token
		edits = append(edits[:len(edits):len(edits)], strictjson.Set([]byte(c.wireID().String()), "_meta", "progressToken"))
	}
	if len(edits) == 0 {
		return req.Params, nil
	}
	params := req.Params
	if params == nil {
		params = []byte("{}")
	}
	return strictjson.Splice(params, edits...)
}

// forget takes the call out of the table, so that what still comes for it is
// late, and ends the server's requests that belong to it. Those that name a task
// go on where the call was refused: the task has not ended with it.
func (p *Peer) forget(c *Call, refused bool) {
	c.over.Store(true)
	if c.alone {
		return
	}
	c.box.close()
	p.mu.Lock()
	var orphans []*reverseCall
	delete(p.pending, c.id)
	for _, r := range p.reverse {
		if r.call == c && !(refused && r.named) {
			orphans = append(orphans, r)
		}
	}
	p.touch()
	p.mu.Unlock()
	for _, r := range orphans {
		r.cancel(errCallOver)
	}
}

// await serves a call on a duplex link.
func (p *Peer) await(ctx context.Context, c *Call, out *Outgoing) (Answer, error) {
	for {
		select {
		case <-c.box.ready:
			notes, end, over := c.box.take()
			for _, m := range notes {
				p.notifyCall(m, c)
			}
			if over {
				c.alone = end.alone
				return end.answer, end.err
			}
		case <-ctx.Done():
			p.cancelled(ctx, c, out)
			return Answer{}, context.Cause(ctx)
		}
	}
}

// inline serves a call whose Send runs the whole exchange.
func (p *Peer) inline(ctx context.Context, c *Call, out *Outgoing) (Answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.mu.Lock()
	c.stop = stop
	c.mu.Unlock()
	out.Deliver = func(raw []byte) bool { return p.deliver(raw, c) }
	err := p.link.Send(ctx, out)
	notes, end, over := c.box.take()
	for _, m := range notes {
		p.notifyCall(m, c)
	}
	if over {
		return end.answer, end.err
	}
	if cause := context.Cause(ctx); cause != nil {
		p.cancelled(ctx, c, out)
		return Answer{}, cause
	}
	if err == nil {
		err = &Failure{Reason: StreamLost, Err: errors.New("the exchange ended without an answer")}
	}
	return Answer{}, err
}

// settle ends the call from the outside; the first one wins.
func (c *Call) settle(s settled) bool {
	if !c.box.settle(s) {
		return false
	}
	if !c.inline {
		return true
	}
	c.mu.Lock()
	stop := c.stop
	c.mu.Unlock()
	if stop != nil {
		stop(errAnswered)
	}
	return true
}

// cancelled tells the server that nobody waits any more. It never blocks the
// caller (C29, W19.5).
func (p *Peer) cancelled(ctx context.Context, c *Call, out *Outgoing) {
	if c.gone != nil {
		c.gone()
	}
	p.forget(c, false)
	if out.Method == "initialize" && !broken.Rule("W4.10") || c.quiet || p.Err() != nil {
		return
	}
	if out.Revision != "" && p.link.Inline() {
		return // a stateless revision over HTTP: the closed stream says it (W19.8)
	}
	params := append([]byte(`{"requestId":`), strconv.FormatInt(c.id, 10)...)
	if cause := context.Cause(ctx); cause != nil {
		params = append(params, `,"reason":`...)
		params = strictjson.Quote(params, short(cause.Error()))
	}
	params = append(params, '}')
	m := p.message(jsonrpc.KindNotification, "notifications/cancelled", out.Revision)
	m.Params = params
	p.sayLater(m, DropCancel)
}

// sayLater sends a message that nobody waits for.
func (p *Peer) sayLater(m *middleware.Message, drop Drop) {
	say := func(ctx context.Context) error { return p.link.Send(ctx, outgoing(m)) }
	if p.send != nil {
		say = func(ctx context.Context) error { return p.announced(ctx, m) }
	} else if !p.link.Inline() {
		if say(past()) != nil {
			p.cfg.Hooks.dropped(drop)
		}
		return
	}
	select {
	case p.slots <- struct{}{}:
	default:
		p.cfg.Hooks.dropped(drop)
		return
	}
	p.handlers.Go(func() {
		defer func() { <-p.slots }()
		ctx, stop := context.WithTimeout(context.Background(), closeTimeout)
		defer stop()
		if say(ctx) != nil {
			p.cfg.Hooks.dropped(drop)
		}
	})
}

// past is a context for Sends that must not wait.
func past() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}

// short bounds a text that goes to the server.
func short(text string) string { return text[:min(len(text), 200)] }
