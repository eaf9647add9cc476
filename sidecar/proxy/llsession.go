package proxy

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// session is a client session with its leg: the Handler of what the workload
// sends on it.
type session struct {
	p   *Proxy
	s   dispatch.Session
	leg upstream.Leg
	// augments: calls may run as tasks of the workload's own.
	augments bool
	// speaks is the workload's revision, nil before it is known: it may ask
	// before its handshake has come to us.
	speaks atomic.Pointer[mcp.Profile]
}

// on gives the session its leg.
func (s *session) on(leg upstream.Leg) {
	s.leg, s.augments = leg, capTaskCalls.Declared(leg.Init().Capabilities)
}

// exchange is the client request that a call of the workload belongs to.
func exchange(in peer.Incoming) *dispatch.Exchange {
	if in.Call == nil {
		return nil
	}
	x, _ := in.Call.Value().(*dispatch.Exchange)
	return x
}

// Request implements peer.Handler: the client is asked on the stream of the
// request it belongs to, else on one of the session's own (B6.3).
func (s *session) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	params, answer, bad := s.asks(in.Msg)
	switch {
	case bad != nil, answer != nil:
		s.p.lossy(LossyReverse)
		return answer, bad
	}
	if t := taskOf(in); t != nil {
		return s.answers(in.Msg.Method, t.ask(ctx, in.Msg.Method, params))
	}
	var o dispatch.Outcome
	if x := exchange(in); x != nil {
		o = x.Call(ctx, in.Msg.Method, params)
	} else {
		o = s.s.Call(ctx, in.Msg.Method, params)
	}
	if o.Err != nil {
		switch o.Err.Reason() {
		case "not_in_revision", mcp.ReasonNoCapability, mcp.ReasonNoChannel:
			s.p.lossy(LossyReverse)
		}
	}
	return s.answers(in.Msg.Method, o)
}

// reverseParams are the params of a request of the workload without what is
// not served (tasks, B4.12) or only ours to set (P14).
func reverseParams(m *jsonrpc.Message) []byte {
	if m.Params == nil {
		return nil
	}
	var edits []strictjson.Edit
	if bytes.Contains(m.Params, []byte(`"task"`)) {
		if _, ok := strictjson.Get(m.Params, "task"); ok {
			edits = append(edits, strictjson.Delete("task"))
		}
	}
	if bytes.Contains(m.Meta, []byte(mcp.MetaRelatedTask)) {
		edits = append(edits, strictjson.Delete("_meta", mcp.MetaRelatedTask)) // no task of the client's
	}
	edits = append(edits, vendorKeys(m)...)
	if edits == nil {
		return m.Params
	}
	out, err := strictjson.Splice(m.Params, edits...)
	if err != nil {
		return m.Params
	}
	return out
}

// vendorKeys are the keys of params._meta that only we may set.
func vendorKeys(m *jsonrpc.Message) (edits []strictjson.Edit) {
	if !bytes.Contains(m.Meta, []byte(mcp.VendorPrefix)) {
		return nil
	}
	strictjson.Each(m.Meta, func(key, _ []byte) bool {
		if strings.HasPrefix(string(key), mcp.VendorPrefix) {
			edits = append(edits, strictjson.Delete("_meta", string(key)))
		}
		return true
	})
	return edits
}

// Notification implements peer.Handler: progress and logs go to their request,
// changes to whoever listens (B11, W8.16: to exactly one stream).
func (s *session) Notification(in peer.Incoming) {
	s.p.heard(in.Msg.Method)
	raw := s.outgoing(in.Msg)
	if raw == nil {
		s.p.lossy(LossyNotification)
		return
	}
	if t := taskOf(in); t != nil && !unsolicited(in.Msg.Method) {
		t.tell(in.Msg, raw)
		return
	}
	x := exchange(in)
	if x == nil || unsolicited(in.Msg.Method) {
		send := s.s.Notify
		if unsolicited(in.Msg.Method) {
			send = func(raw []byte) error { return notifyOnce(s.s, raw) }
		}
		if send(raw) != nil {
			s.p.lossy(LossyNotification)
		}
		return
	}
	if tell(x, raw, in.MayWait) != nil {
		s.p.lossy(LossyNotification)
	}
}

// tell sends a notification on an exchange's stream, waiting for a slow reader
// where that holds up nobody else (P18).
func tell(x *dispatch.Exchange, raw []byte, wait bool) error {
	if wait {
		return x.NotifyWait(x.Context(), raw)
	}
	return x.Notify(raw)
}

// unsolicited lists the notifications that belong to no request, also when the
// workload sends them during one.
func unsolicited(method string) bool {
	switch method {
	case mcp.NotifyToolsChanged, mcp.NotifyPromptsChanged, mcp.NotifyResourcesChanged, mcp.NotifyResourceUpdated, mcp.NotifyElicitComplete:
		return true
	}
	return false
}

// outgoing is a notification as the client's revision has it; nil if it has
// none such.
func (s *session) outgoing(m *jsonrpc.Message) []byte {
	if m.Method == mcp.NotifyTaskStatus {
		return nil
	}
	raw := m.Raw
	var edits []strictjson.Edit
	for _, e := range vendorKeys(m) {
		edits = append(edits, strictjson.Delete(append([]string{"params"}, e.Path...)...))
	}
	if p, ok := mcp.Lookup(s.s.Revision()); ok && !p.ProgressMessage && m.Method == mcp.NotifyProgress {
		edits = append(edits, strictjson.Delete("params", "message")) // B11.4
	}
	if edits == nil {
		return raw
	}
	out, err := strictjson.Splice(raw, edits...)
	if err != nil {
		return nil
	}
	return out
}
