package duplex

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/envelope"
)

// legacy is the session of a Conn. Requests that come before initialize is
// answered are held until it is.
type legacy struct {
	*dispatch.Legacy
	c    *Conn
	hold sync.Once // the connection counts as use of the session

	// Under Conn.mu.
	open bool
	held []inbound
}

// initialize opens the session (W4). A second one while there is a session is
// refused.
func (c *Conn) initialize(m inbound) {
	hello, refusal := envelope.Handshake(m.Params, c.cfg.Dispatcher.Offered(), c.cfg.Dispatcher.Binding)
	if refusal == nil {
		refusal = c.adopt(m, hello)
	}
	if refusal != nil {
		c.cfg.Observer.Reject(hook.RejectSession)
		m.done()
		c.refuse(m.ID, refusal)
	}
}

func (c *Conn) adopt(m inbound, hello envelope.Hello) *jsonrpc.Error {
	if c.current() != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session is initialized already")
	}
	sess, err := c.cfg.Sessions.New(session.Params{
		Key: c.cfg.Key, Principal: c.Principal(), Profile: hello.Profile,
		Capabilities: hello.Capabilities, ClientInfo: hello.Info,
	})
	if err != nil {
		reason := mcp.ReasonBusy
		if errors.Is(err, session.ErrStopped) {
			reason = mcp.ReasonDraining
		}
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "%v", err).WithReason(reason)
	}
	sess.Bind(push{c.cfg.Wire})
	l := &legacy{Legacy: c.cfg.Dispatcher.Adopt(sess), c: c}
	sess.Enter()
	c.mu.Lock()
	if closed := c.closed; closed != nil {
		c.mu.Unlock()
		sess.End(hook.EndGone, closed)
		return dispatch.Explain(closed)
	}
	c.legacy, c.profile = l, hello.Profile
	c.mu.Unlock()
	// It may end by other hands than Close: idle, the server, a failed
	// handshake.
	context.AfterFunc(l.Context(), l.ended)
	if c.cfg.Patient {
		l.touched()
	}
	given := m.done
	m.done = func() { given(); l.Leave() }
	x := &exchange{c: c, msg: m, legacy: l, after: l.opened}
	x.start(l.Context(), l.request(m, nil), l.Open)
	return nil
}

// opened is the end of initialize: what was held begins, or the session ends.
func (l *legacy) opened(o dispatch.Outcome, silence error) {
	if silence != nil || o.Err != nil {
		l.Close(errors.New("initialize failed"))
		return
	}
	c := l.c
	for {
		c.mu.Lock()
		held := l.held
		l.held = nil
		l.open = len(held) == 0
		c.mu.Unlock()
		if len(held) == 0 {
			return
		}
		for _, h := range held {
			l.serve(h)
		}
	}
}

// ended forgets the session; what was held is refused.
func (l *legacy) ended() {
	c := l.c
	c.mu.Lock()
	if c.legacy == l {
		c.legacy = nil
	}
	held := l.held
	l.held = nil
	closed := c.closed
	c.mu.Unlock()
	cause := context.Cause(l.Context())
	for _, h := range held {
		h.done()
		if !errors.Is(cause, dispatch.ErrDisconnected) {
			c.refuse(h.ID, dispatch.Explain(cause))
		}
	}
	if closed == nil && c.cfg.SessionEnded != nil {
		c.cfg.SessionEnded(cause)
	}
}

// touched says that something came after initialize: from here on the
// connection counts as use, until the session ends.
func (l *legacy) touched() { l.hold.Do(func() { l.Enter() }) }

// legacyRequest serves a request on the session. Without one there is only
// ping (W4.1).
func (c *Conn) legacyRequest(m inbound) {
	l := c.current()
	if l == nil {
		c.early(m)
		return
	}
	l.touched()
	c.mu.Lock()
	hold := !l.open && m.Method != mcp.MethodPing
	full := hold && len(l.held) >= MaxHeld
	if hold && !full {
		l.held = append(l.held, m)
	}
	c.mu.Unlock()
	switch {
	case full:
		m.done()
		c.refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests before initialize is answered").WithReason(mcp.ReasonBusy))
	case !hold:
		l.serve(m)
	}
}

func (c *Conn) early(m inbound) {
	if m.Method == mcp.MethodPing {
		p, _ := mcp.Lookup(mcp.AssumedRevision)
		c.answer(m, dispatch.Request{Msg: m.Message, Profile: p, Principal: m.who.Name(), Identity: m.who, Caller: c.cfg.Caller})
		return
	}
	defer m.done()
	c.cfg.Observer.Reject(hook.RejectSession)
	if m.Method == mcp.MethodDiscover {
		c.refuse(m.ID, envelope.Missing())
		return
	}
	c.refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize comes first"))
}

func (l *legacy) serve(m inbound) {
	c := l.c
	x := &exchange{c: c, msg: m, legacy: l}
	req := l.request(m, x)
	if c.answer(m, req) {
		return
	}
	x.start(l.Context(), req, c.cfg.Dispatcher.Server.Serve)
}

func (l *legacy) request(m inbound, ch dispatch.Channel) dispatch.Request {
	return dispatch.Request{
		Msg: m.Message, Profile: l.Profile(), Session: l.Legacy, Principal: l.Principal(), Identity: m.who, Caller: l.c.cfg.Caller,
		ClientCapabilities: l.ClientCapabilities(), ClientInfo: l.ClientInfo(), Channel: ch,
	}
}
