package peer

import (
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// notification routes a notification of the server. On the goroutine of via it
// is handled at once; otherwise it is queued for whoever it belongs to.
func (p *Peer) notification(m *jsonrpc.Message, via *Call) {
	switch m.Method {
	case "notifications/cancelled":
		p.withdraw(m)
		return
	case "notifications/progress":
		c := p.byToken(m)
		if c == nil {
			p.cfg.Hooks.dropped(DropProgress)
			return
		}
		p.toCall(m, c, via)
		return
	case "notifications/message":
		// B11.1: the stream it came on, else the only request in flight.
		c := via
		if c == nil {
			c = p.sole(func(c *Call) bool { return c.method != mcp.MethodListen && !c.aside }) // W23.7
		}
		if c != nil && c.method != "initialize" {
			p.toCall(m, c, via)
			return
		}
	}
	if via != nil {
		p.notifyCall(m, via)
		return
	}
	if raw, ok := strictjson.Get(m.Meta, mcp.MetaSubscriptionID); ok { // W18.5
		if c := p.byID(raw); c != nil {
			p.toCall(m, c, nil)
			return
		}
	}
	p.unsolicited(Incoming{Msg: m})
}

func (p *Peer) byToken(m *jsonrpc.Message) *Call {
	raw, _ := strictjson.Get(m.Params, "progressToken")
	if c := p.byID(raw); c != nil {
		return c
	}
	return p.lastingByID(raw)
}

// byID is the call in flight with an id of ours.
func (p *Peer) byID(raw []byte) *Call {
	id, _, ok := ourID(string(raw))
	if !ok {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending[id]
}

// toCall gives a notification to the call it belongs to.
func (p *Peer) toCall(m *jsonrpc.Message, c, via *Call) {
	switch {
	case c == via:
		p.notifyCall(m, c)
	case p.link.Inline(), c.lasts.Load():
		// The call's goroutine is busy reading its own stream.
		p.unsolicited(Incoming{Msg: m, Call: c})
	default:
		dropped, ok := c.box.note(m)
		if !ok {
			p.cfg.Hooks.dropped(DropProgress)
		}
		for range dropped {
			p.cfg.Hooks.dropped(DropMailbox)
		}
	}
}

// notifyCall hands a notification to the Handler on its call's own goroutine.
func (p *Peer) notifyCall(m *jsonrpc.Message, c *Call) {
	p.hand(Incoming{Msg: m, Call: c, MayWait: true})
}

// hand gives the Handler a notification that belongs to a call.
func (p *Peer) hand(in Incoming) {
	if p.cfg.Handler == nil && p.receive == nil {
		return
	}
	if in.Msg.Method == "notifications/progress" {
		var ok bool
		if in.Msg, ok = in.Call.restored(in.Msg); !ok {
			p.cfg.Hooks.dropped(DropProgress)
			return
		}
	}
	p.told(in, p.notified)
}

// notified is where a notification ends.
func (p *Peer) notified(in Incoming) {
	if p.cfg.Handler != nil {
		p.cfg.Handler.Notification(in)
	}
}

// Bounds of the queue for notifications that are nobody's own, beyond which
// the oldest goes.
const (
	inboxMessages = 1024
	inboxBytes    = 8 << 20
)

// inbox is a bounded queue with a goroutine that lives only while there is
// something in it.
type inbox struct {
	budget  Budget // may be nil
	mu      sync.Mutex
	queue   []Incoming
	bytes   int
	running bool
	closed  bool
}

// unsolicited queues a notification for the Handler.
func (p *Peer) unsolicited(in Incoming) {
	if p.cfg.Handler == nil && p.receive == nil {
		return
	}
	b := &p.inbox
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	n := len(in.Msg.Raw)
	for len(b.queue) > 0 && (len(b.queue) >= inboxMessages || b.bytes+n > inboxBytes) {
		b.pop()
		p.cfg.Hooks.dropped(DropUnsolicited)
	}
	for !acquire(b.budget, n) {
		p.cfg.Hooks.dropped(DropUnsolicited)
		if len(b.queue) == 0 {
			return
		}
		b.pop()
	}
	b.queue = append(b.queue, in)
	b.bytes += n
	if !b.running {
		b.running = true
		p.handlers.Go(p.pump)
	}
}

// pump hands out what is queued and ends when nothing is.
func (p *Peer) pump() {
	b := &p.inbox
	for {
		b.mu.Lock()
		if len(b.queue) == 0 {
			b.queue, b.running = nil, false
			b.mu.Unlock()
			return
		}
		in := b.pop()
		b.mu.Unlock()
		switch {
		case in.Call == nil:
			p.told(in, p.notified)
		case in.Call.over.Load() && !in.Call.lasts.Load():
			p.cfg.Hooks.dropped(DropProgress)
		default:
			p.hand(in)
		}
	}
}

// pop takes the oldest; mu is held and the queue is not empty.
func (b *inbox) pop() Incoming {
	in := b.queue[0]
	b.queue[0] = Incoming{}
	b.queue = b.queue[1:]
	b.bytes -= len(in.Msg.Raw)
	release(b.budget, len(in.Msg.Raw))
	return in
}

func (b *inbox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	release(b.budget, b.bytes)
	b.queue, b.bytes = nil, 0
}
