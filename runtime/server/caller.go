package server

import (
	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Caller is for whom something is listed, called, read or told.
type Caller struct {
	Principal string
	// Identity is nil for anonymous callers. Of a session that is told of a
	// change it is who opened the session.
	Identity *auth.Identity
	Revision string
	// ClientCapabilities is the raw object that holds for the request or the
	// session.
	ClientCapabilities []byte
	// Session is the key of the legacy session, "" without one.
	Session string
}

// Declares reports whether the client declared a capability.
func (c Caller) Declares(capability mcp.Capability) bool {
	return capability.Declared(c.ClientCapabilities)
}

func callerOf(x *dispatch.Exchange) Caller {
	c := Caller{Principal: x.Principal(), Identity: x.Identity(), Revision: x.Revision(), ClientCapabilities: x.ClientCapabilities()}
	if s := x.Session(); s != nil {
		c.Session = s.Key()
	}
	return c
}

func (state *sessionState) caller() Caller {
	s := state.session
	return Caller{Principal: s.Principal(), Identity: state.identity, Revision: s.Revision(), ClientCapabilities: s.ClientCapabilities(), Session: s.Key()}
}

// sees reports whether an item shows itself to a caller.
func (s *Server) sees(who Caller, kind Kind, name string, own func(Caller) bool) bool {
	if own != nil && !own(who) {
		return false
	}
	return s.opt.Visible == nil || s.opt.Visible(who, kind, name)
}
