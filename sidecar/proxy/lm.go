package proxy

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// lmSession is a client session in front of a workload that knows none (B4.8):
// what the workload has to be told anew with every request.
type lmSession struct {
	p       *Proxy
	s       dispatch.Session
	conv    upstream.Conversation
	profile mcp.Profile
	// capabilities are the client's as the workload's revision spells them
	// (B4.9), info is its clientInfo or nil; both raw.
	capabilities, info []byte
	// tasks: the workload may answer a call with a task.
	tasks bool

	mu    sync.Mutex
	level string // of logging/setLevel; "" before: no logs (B11.2)
}

func (s *lmSession) close(error) { s.p.hubs.leave(s) }

// lm serves a request of such a session.
func (p *Proxy) lm(ctx context.Context, x *dispatch.Exchange, s *lmSession) dispatch.Outcome {
	m, _ := x.Profile().Method(x.Msg.Method)
	switch {
	case x.Msg.Method == mcp.MethodPing: // B11.7
		return dispatch.Result([]byte("{}"))
	case x.Msg.Method == mcp.MethodSetLevel:
		return s.setLevel(x)
	case x.Msg.Method == mcp.MethodSubscribe:
		return s.subscribe(ctx, x)
	case x.Msg.Method == mcp.MethodUnsubscribe:
		return s.unsubscribe(x)
	case m.Needs == mcp.CapTasks:
		return p.taskMethod(ctx, x)
	}
	e, err := s.errand(x)
	if err != nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params must be an object"))
	}
	if m.Name == mcp.MethodToolsCall && p.offersTasks(s.profile) {
		if o := p.lmTask(ctx, x, s, e); !o.IsZero() {
			return o
		}
	}
	return p.lmRounds(ctx, x, s, e, nil)
}

// setLevel stays here: the level goes along with every request (B11.2).
func (s *lmSession) setLevel(x *dispatch.Exchange) dispatch.Outcome {
	if !mcp.CapLogging.Declared(s.conv.Discovered().Capabilities) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	}
	raw, _ := strictjson.Get(x.Msg.Params, "level")
	level, _ := strictjson.String(raw)
	if !mcp.LogLevel(level) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown log level")) // W23.4
	}
	s.mu.Lock()
	s.level = level
	s.mu.Unlock()
	return dispatch.Result([]byte("{}"))
}

func (s *lmSession) logLevel() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

// envelope is the metadata of a request of this session (B5.2).
func (s *lmSession) envelope() []strictjson.Edit {
	edits := []strictjson.Edit{
		strictjson.Set(strictjson.Quote(nil, s.conv.Discovered().Revision), "_meta", mcp.MetaProtocolVersion),
		strictjson.Set(s.capabilities, "_meta", mcp.MetaClientCapabilities),
	}
	if s.info != nil {
		edits = append(edits, strictjson.Set(s.info, "_meta", mcp.MetaClientInfo))
	} else {
		edits = append(edits, strictjson.Delete("_meta", mcp.MetaClientInfo))
	}
	return edits
}

// errand is the client's request as the workload gets it. What only a modern
// client may say is taken out: answers and states are ours here (B8.3).
func (s *lmSession) errand(x *dispatch.Exchange) (*errand, error) {
	bare, err := strictjson.Splice([]byte(`{}`), s.envelope()...)
	if err != nil {
		return nil, err
	}
	envelope, _ := strictjson.Get(bare, "_meta")
	edits := append(s.envelope(), strictjson.Delete("inputResponses"), strictjson.Delete("requestState"))
	if level := s.logLevel(); level != "" {
		edits = append(edits, strictjson.Set(strictjson.Quote(nil, level), "_meta", mcp.MetaLogLevel))
	} else {
		edits = append(edits, strictjson.Delete("_meta", mcp.MetaLogLevel))
	}
	token := x.ProgressToken()
	edits = append(edits, untold(x.Msg.Meta, token != nil)...)
	params := x.Msg.Params
	if params == nil {
		params = []byte(`{}`)
	}
	if x.Msg.Method == mcp.MethodToolsCall {
		edits = append(edits, strictjson.Delete("task")) // ours, or W35.3: no tasks are offered
	}
	edits = append(edits, nullArguments(x.Msg.Method, params)...)
	if params, err = strictjson.Splice(params, edits...); err != nil {
		return nil, err
	}
	return &errand{
		p:         s.p,
		conv:      s.conv,
		principal: s.s.Principal(),
		envelope:  func() []byte { return envelope },
		request:   peer.Request{Method: x.Msg.Method, Params: params, Token: token, Value: &lmCall{s: s, x: x}},
	}, nil
}

// lmCall is the Handler of what belongs to a call.
type lmCall struct {
	s *lmSession
	x *dispatch.Exchange
	h *task.Handle // nil unless the request has become a task
	// shown is the progress that the client has seen: to it the rounds of a
	// request, each a call of its own, are one (W20.3).
	shown rising
}

// Request implements peer.Handler. A modern workload asks in its answers only.
func (c *lmCall) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")
}

// Notification implements peer.Handler: logs and progress go to the stream of
// the request (B11.2, B11.4).
func (c *lmCall) Notification(in peer.Incoming) {
	p := c.s.p
	var edits []strictjson.Edit
	switch in.Msg.Method {
	case mcp.NotifyMessage:
		if !wants(c.s.logLevel(), in.Msg) {
			p.lossy(LossyLog)
			return
		}
	case mcp.NotifyProgress:
		if !c.shown.takes(in.Msg.Params) {
			return
		}
		if !c.s.profile.ProgressMessage {
			edits = append(edits, strictjson.Delete("params", "message"))
		}
	default:
		if mcp.KnownMethod(in.Msg.Method) {
			p.lossy(LossyNotification)
			return
		}
	}
	raw := unforged(in.Msg)
	if edits != nil && raw != nil {
		raw, _ = strictjson.Splice(raw, edits...)
	}
	if raw == nil || c.tell(in, raw) != nil {
		p.lossy(LossyNotification)
	}
}

func (c *lmCall) tell(in peer.Incoming, raw []byte) error {
	if c.h != nil {
		return tellOfTask(c.s.s, c.h, in.Msg, raw)
	}
	return tell(c.x, raw, in.MayWait)
}
