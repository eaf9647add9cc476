package server

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// subscribe serves resources/subscribe (W26.8): the session is told when the
// resource changes. What the caller could not read does not exist.
func (s *Server) subscribe(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	state, uri, bad := s.subscription(x)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	r := s.find(callerOf(x), uri)
	if r == nil {
		return dispatch.Fail(notFound(x.Profile(), uri))
	}
	if missing := x.Identity().Missing(r.scopes...); len(missing) > 0 {
		return dispatch.Fail(lacking(x, r.scopes))
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	_, there := state.uris[uri]
	switch {
	case there || state.over:
		return empty()
	case len(state.uris) >= s.opt.MaxSubscriptions:
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the session has too many subscriptions").WithReason(mcp.ReasonBusy))
	case state.uris == nil:
		state.uris = map[string]struct{}{}
	}
	state.uris[uri] = struct{}{}
	s.interest.add(uri)
	return empty()
}

// unsubscribe serves resources/unsubscribe; what was not subscribed does not
// matter.
func (s *Server) unsubscribe(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	state, uri, bad := s.subscription(x)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	if _, there := state.uris[uri]; there {
		delete(state.uris, uri)
		s.interest.remove(map[string]struct{}{uri: {}})
	}
	return empty()
}

func (s *Server) subscription(x *dispatch.Exchange) (*sessionState, string, *jsonrpc.Error) {
	raw, _ := strictjson.Get(x.Msg.Params, "uri")
	uri, ok := strictjson.String(raw)
	if !ok || uri == "" {
		return nil, "", jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "uri must be an absolute URI")
	}
	state := stateOf(x.Session())
	if state == nil {
		return nil, "", jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a subscription needs a session")
	}
	return state, uri, nil
}
