package duplex

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/envelope"
)

// Receive takes one message or batch and returns when it has been handed on;
// it does not wait for handlers. raw is the Conn's from here on. The error, a
// *jsonrpc.ParseError, says that raw is no message of this conversation;
// nothing was said to the client then, see Unreadable.
func (c *Conn) Receive(raw []byte) error { return c.ReceiveFrom(c.cfg.Identity, raw, nil) }

// ReceiveFrom is Receive where each message is authenticated by itself. done,
// when not nil, is called once when the bytes are not needed any more.
func (c *Conn) ReceiveFrom(who *auth.Identity, raw []byte, done func()) error {
	if done == nil {
		done = func() {}
	}
	if jsonrpc.IsBatch(raw) {
		return c.batch(who, raw, done)
	}
	m, err := envelope.Parse(raw)
	if err != nil {
		done()
		return err
	}
	c.one(inbound{m, who, done})
	return nil
}

// inbound is a message on its way in.
type inbound struct {
	*jsonrpc.Message
	who  *auth.Identity
	done func() // the bytes are not needed any more
}

// Unreadable is the answer to bytes that Receive refused. The id is the
// request's if it could be read, else null or absent as the revision has it
// (W1.8, P34).
func (c *Conn) Unreadable(err error) []byte {
	var parse *jsonrpc.ParseError
	if !errors.As(err, &parse) {
		parse = &jsonrpc.ParseError{Code: jsonrpc.CodeInternal, Message: "internal error"}
	}
	reason := hook.RejectMessage
	if parse.Code == jsonrpc.CodeParse {
		reason = hook.RejectJSON
	}
	c.cfg.Observer.Reject(reason)
	id := parse.ID
	c.mu.Lock()
	if id.IsZero() && c.profile.NullErrorID {
		id = jsonrpc.NullID()
	}
	c.mu.Unlock()
	return jsonrpc.EncodeError(id, &jsonrpc.Error{Code: parse.Code, Message: parse.Message})
}

// TooLarge takes what could be read of a message over the size limit: a
// request is refused, and whoever waits for a response is told that it is lost
// (R5).
func (c *Conn) TooLarge(what salvage.Peek) {
	c.cfg.Observer.Reject(hook.RejectTooLarge)
	id, known := jsonrpc.ParseID([]byte(what.ID))
	lost := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "message is too large"}
	switch {
	case what.Method && known:
		c.refuse(id, lost)
	case what.Method: // a notification is never answered (W1.10)
	case what.Object && known:
		c.one(inbound{&jsonrpc.Message{Kind: jsonrpc.KindResponse, ID: id, Err: lost}, c.cfg.Identity, func() {}})
	default:
		c.say(c.Unreadable(&jsonrpc.ParseError{Code: lost.Code, Message: lost.Message}))
	}
}

func (c *Conn) one(m inbound) {
	claimed, modern := envelope.Claimed(m.Message)
	if m.Kind == jsonrpc.KindRequest && c.cfg.Budget != nil {
		size := int64(len(m.Raw))
		if !c.cfg.Budget.AcquireNow(size) {
			c.cfg.Observer.Reject(hook.RejectOverload)
			m.done()
			c.refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeInternal, "no memory for the message").WithReason(mcp.ReasonBusy))
			return
		}
		given := m.done
		m.done = func() {
			c.cfg.Budget.Release(size)
			given()
		}
	}
	switch {
	case m.Kind == jsonrpc.KindResponse:
		c.toSession(m)
	case m.Kind == jsonrpc.KindNotification:
		c.notification(m, modern)
	case modern:
		c.modern(m, claimed)
	case m.Method == mcp.MethodInitialize:
		c.initialize(m)
	default:
		c.legacyRequest(m)
	}
}

// toSession hands a response or a cancel to the session. The lane keeps
// whatever looks at messages away from the reader.
func (c *Conn) toSession(m inbound) {
	l := c.current()
	if l == nil {
		c.cfg.Observer.Drop(hook.DropInbound) // nobody asked (W1.13)
		m.done()
		return
	}
	l.touched()
	c.controlled(m, func() { l.Receive(m.Message, m.who) })
}

// controlled does work that must not wait for the Server's handlers. When the
// lane is full the reader does it, which loses nothing.
func (c *Conn) controlled(m inbound, work func()) {
	f := func() {
		defer m.done()
		work()
	}
	if !c.control.add(f) {
		f()
	}
}

// notification takes a notification of either era. A cancel names a request by
// id, and that says whose it is; other notifications without a session mean
// nothing in any revision, but the stacks see them.
func (c *Conn) notification(m inbound, modern bool) {
	var x *exchange
	if m.Method == mcp.NotifyCancelled {
		x = c.find(m.Message)
	}
	l := c.current()
	switch {
	case x != nil && x.legacy == nil, modern, l == nil:
		c.sessionless(m, x)
		return
	}
	switch m.Method {
	case mcp.NotifyCancelled, mcp.NotifyInitialized, mcp.NotifyProgress:
		c.toSession(m)
		return
	}
	l.touched()
	if !c.notices.add(func() { defer m.done(); l.Receive(m.Message, m.who) }) {
		c.cfg.Observer.Drop(hook.DropInbound)
		m.done()
	}
}

// sessionless takes a notification that belongs to no session: the cancel of a
// stateless request x, or nothing.
func (c *Conn) sessionless(m inbound, x *exchange) {
	c.mu.Lock()
	profile := c.profile
	c.mu.Unlock()
	if x == nil || x.legacy != nil {
		c.cfg.Observer.Drop(hook.DropInbound)
		x = nil
	} else {
		profile = x.profile
	}
	req := dispatch.Request{Msg: m.Message, Profile: profile, Principal: m.who.Name(), Identity: m.who, Caller: c.cfg.Caller}
	c.controlled(m, func() {
		c.cfg.Dispatcher.Take(c.base, req, func(m *jsonrpc.Message) {
			if x != nil {
				x.cancel(cancelCause(m))
			}
		})
	})
}

// find is the request that a cancel names; nil for whatever does not fit
// (W19.3).
func (c *Conn) find(m *jsonrpc.Message) *exchange {
	raw, _ := strictjson.Get(m.Params, "requestId")
	id, ok := jsonrpc.ParseID(raw)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[id]
}

func cancelCause(m *jsonrpc.Message) error {
	raw, _ := strictjson.Get(m.Params, "reason")
	if reason, _ := strictjson.String(raw); reason != "" {
		return fmt.Errorf("%w: %.200q", dispatch.ErrCancelled, reason) // W19.10
	}
	return dispatch.ErrCancelled
}

// batch takes a JSON array, which only sessions of 2025-03-26 may send (W12.1,
// W12.4). Its members are answered one by one.
func (c *Conn) batch(who *auth.Identity, raw []byte, done func()) error {
	refused := func(err error) error {
		done()
		return err
	}
	l := c.current()
	if l == nil || !l.Profile().Batches {
		return refused(&jsonrpc.ParseError{Code: jsonrpc.CodeInvalidRequest, Message: "this revision has no batches"})
	}
	msgs, err := jsonrpc.ParseBatch(raw, strictjson.FromClient)
	if err != nil {
		return refused(err)
	}
	for i := range msgs {
		if msgs[i], err = envelope.Clean(msgs[i]); err != nil {
			return refused(err)
		}
		if msgs[i].Method == mcp.MethodInitialize {
			return refused(&jsonrpc.ParseError{Code: jsonrpc.CodeInvalidRequest, Message: "initialize may not be in a batch", ID: msgs[i].ID}) // W4.9
		}
	}
	left := atomic.Int64{}
	left.Store(int64(len(msgs)))
	part := func() {
		if left.Add(-1) == 0 {
			done()
		}
	}
	for _, m := range msgs {
		c.one(inbound{m, who, part})
	}
	return nil
}
