package server

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

var _ dispatch.Adopter = (*Server)(nil)

// Adopt implements dispatch.Adopter: a session that was opened elsewhere, on a
// server with the same offers. Options.Opened is told as of any other; the log
// level and the subscriptions begin anew.
func (s *Server) Adopt(ctx context.Context, session dispatch.Session, id *auth.Identity) error {
	profile, _ := mcp.Lookup(session.Revision())
	c := s.capabilities(dispatch.NewExchange(ctx, dispatch.Request{
		Msg: &jsonrpc.Message{}, Profile: profile, Session: session, Principal: session.Principal(), Identity: id,
	}))
	if s.opt.Opened != nil {
		s.opt.Opened(session)
	}
	s.watchers.open(session, id, &c)
	return nil
}
