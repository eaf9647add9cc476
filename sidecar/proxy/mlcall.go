package proxy

import (
	"context"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// modernCall is a call on a shared leg: the Handler of what belongs to it.
type modernCall struct {
	p *Proxy
	x *dispatch.Exchange
	// cancel ends the call; nil where nothing may.
	cancel context.CancelCauseFunc
	// lacked is what the workload asked for and the client did not declare. It
	// stands over an answer that comes as the call is cancelled.
	lacked atomic.Pointer[jsonrpc.Error]
}

// Request implements peer.Handler. The leg declared no capability, so whatever
// the workload asks was not declared (B6.2).
func (c *modernCall) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	c.p.lossy(LossyReverse)
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client did not declare this").WithReason(mcp.ReasonNoCapability)
}

// lacks implements caller (B7.15).
func (c *modernCall) lacks(m *jsonrpc.Message) {
	if bad := mayAsk(c.x.ClientCapabilities())(m.Method, m.Params); bad != nil && c.cancel != nil {
		c.lacked.Store(bad)
		c.cancel(bad)
	}
}

// Notification implements peer.Handler: progress, and logs as far as they were
// asked for; nothing else belongs on a response stream (W14.5, B10.4).
func (c *modernCall) Notification(in peer.Incoming) {
	switch in.Msg.Method {
	case mcp.NotifyProgress:
	case mcp.NotifyMessage:
		if !wants(c.x.LogLevel(), in.Msg) {
			c.p.lossy(LossyLog)
			return
		}
	default:
		c.p.lossy(LossyNotification)
		return
	}
	raw := unforged(in.Msg)
	if raw == nil {
		return
	}
	if tell(c.x, raw, in.MayWait) != nil {
		c.p.lossy(LossyNotification)
	}
}

// wants compares a log message with the level asked for, "" for none (W23.5,
// W23.6).
func wants(level string, m *jsonrpc.Message) bool {
	least := mcp.LogSeverity(level)
	raw, _ := strictjson.Get(m.Params, "level")
	level, _ = strictjson.String(raw)
	return least > 0 && mcp.LogSeverity(level) >= least
}

// unforged is a notification without the keys that only we may set (P14) and
// those of legacy tasks (B5.4); nil if it cannot be read.
func unforged(m *jsonrpc.Message) []byte {
	edits := vendorKeys(m)
	for i := range edits {
		edits[i] = strictjson.Delete(append([]string{"params"}, edits[i].Path...)...)
	}
	for _, name := range []string{mcp.MetaRelatedTask, mcp.MetaModelImmediateResponse} {
		if _, ok := strictjson.Get(m.Meta, name); ok {
			edits = append(edits, strictjson.Delete("params", "_meta", name))
		}
	}
	if edits == nil {
		return m.Raw
	}
	raw, err := strictjson.Splice(m.Raw, edits...)
	if err != nil {
		return nil
	}
	return raw
}
