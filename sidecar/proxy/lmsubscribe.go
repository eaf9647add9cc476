package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// clientInfo is how our own requests introduce themselves.
const clientInfo = upstream.ClientInfo

// subscribe adds a resource to what the session wants to hear, and answers when
// the workload has acknowledged it (B10.10).
func (s *lmSession) subscribe(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	raw, _ := strictjson.Get(x.Msg.Params, "uri")
	uri, ok := strictjson.String(raw)
	switch {
	case !mcp.CapSubscribe.Declared(s.conv.Discovered().Capabilities):
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	case !ok:
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params.uri must be a string"))
	}
	h := s.p.hubs.of(s)
	if h == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session is not open"))
	}
	version, fits := h.want(s, uri)
	if !fits {
		return dispatch.Fail(internal("too many subscriptions", mcp.ReasonBusy))
	}
	if err := h.await(ctx, version); err != nil {
		return dispatch.Fail(dispatch.Explain(err))
	}
	if refused := h.honours(uri); refused != nil {
		h.unwant(s, uri)
		if refused.Code == mcp.CodeResourceNotFound {
			refused.Data = append(append([]byte(`{"uri":`), raw...), '}')
		}
		return dispatch.Fail(refused)
	}
	return dispatch.Result([]byte("{}"))
}

// unsubscribe takes it out again, whatever the workload says.
func (s *lmSession) unsubscribe(x *dispatch.Exchange) dispatch.Outcome {
	raw, _ := strictjson.Get(x.Msg.Params, "uri")
	uri, ok := strictjson.String(raw)
	if !ok {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params.uri must be a string"))
	}
	if h := s.p.hubs.of(s); h != nil {
		h.unwant(s, uri)
	}
	return dispatch.Result([]byte("{}"))
}

// want adds a resource for a session; fits is false when it has too many.
func (h *hub) want(s *lmSession, uri string) (version uint64, fits bool) {
	h.mu.Lock()
	f, member := h.members[s]
	if fits = member && (len(f.uris) < maxUris || f.uris[uri]); fits {
		f.uris[uri] = true
	}
	h.mu.Unlock()
	if !fits {
		return 0, false
	}
	return h.changed(), true
}

func (h *hub) unwant(s *lmSession, uri string) {
	h.mu.Lock()
	delete(h.members[s].uris, uri)
	h.mu.Unlock()
	h.changed()
}

// honours is why the workload does not tell of a resource, nil if it does.
func (h *hub) honours(uri string) *jsonrpc.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.agreed.uris[uri]:
		return nil
	case h.refused != nil && h.refused.Code != jsonrpc.CodeMethodNotFound:
		if own := ours(h.refused); own != nil {
			return own
		}
		return &jsonrpc.Error{Code: h.refused.Code, Message: h.refused.Message, Data: h.refused.Data}
	case h.refused != nil || !h.uris:
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the workload does not tell of changes to resources")
	}
	return &jsonrpc.Error{Code: mcp.CodeResourceNotFound, Message: "the workload does not tell of changes to this resource"}
}
