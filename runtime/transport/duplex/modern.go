package duplex

import (
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/envelope"
)

// modern serves a request that carries its own envelope. There are no headers
// to agree with here, so the order is: version, the rest, method (P34).
func (c *Conn) modern(m inbound, claimed []byte) {
	about, refusal := c.read(m.Message, claimed)
	if refusal != nil {
		c.cfg.Observer.Reject(reasonOf(refusal))
		m.done()
		c.refuse(m.ID, refusal)
		return
	}
	c.mu.Lock()
	c.profile = about.Profile
	c.mu.Unlock()
	x := &exchange{c: c, msg: m, profile: about.Profile}
	req := dispatch.Request{
		Msg: m.Message, Profile: about.Profile, Principal: m.who.Name(), Identity: m.who, Caller: c.cfg.Caller,
		ClientCapabilities: about.Capabilities, ClientInfo: about.Info, Channel: x,
	}
	if c.answer(m, req) {
		return
	}
	method, _ := about.Profile.Method(m.Method)
	x.listening = method.Listening
	x.start(c.base, req, c.cfg.Dispatcher.Server.Serve)
}

// answer answers what needs no Server, see Dispatcher.Answer, away from the
// reader: links of the stacks may wait.
func (c *Conn) answer(m inbound, req dispatch.Request) bool {
	method, known := req.Profile.Method(m.Method)
	if req.Profile.Serves(m.Method) && (!known || method.Name != mcp.MethodPing) {
		return false
	}
	if refusal, ok := c.enter(); !ok {
		m.done()
		c.refuse(m.ID, refusal)
		return true
	}
	work := func() {
		defer c.leave()
		defer m.done()
		if o, answered := c.cfg.Dispatcher.Answer(c.base, req); answered {
			c.say(encode(m.ID, o))
		}
	}
	if !c.quick.add(work) {
		work()
	}
	return true
}

func (c *Conn) read(m *jsonrpc.Message, claimed []byte) (envelope.Modern, *jsonrpc.Error) {
	revision, err := envelope.Revision(claimed)
	if err != nil {
		return envelope.Modern{}, err
	}
	profile, err := envelope.Supported(revision, c.cfg.Dispatcher.Offered(), c.cfg.Dispatcher.Binding)
	if err != nil {
		return envelope.Modern{}, err
	}
	about, err := envelope.Rest(m, profile)
	if err != nil {
		return about, err
	}
	return about, envelope.LogLevel(m)
}

func reasonOf(err *jsonrpc.Error) hook.Reason {
	if err.Code == mcp.CodeUnsupportedRevision {
		return hook.RejectRevision
	}
	return hook.RejectMessage
}
