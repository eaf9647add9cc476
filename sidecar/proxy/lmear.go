package proxy

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ear is one subscription of a hub at the workload, until it is stopped.
type ear struct {
	h       *hub
	version uint64
	stop    context.CancelCauseFunc
	acked   chan struct{} // closed at the first acknowledgement
	done    chan struct{} // closed at the end

	mu  sync.Mutex
	end *jsonrpc.Error
}

func newEar(h *hub, want filter, version uint64) *ear {
	ctx, stop := context.WithCancelCause(h.ctx)
	e := &ear{h: h, version: version, stop: stop, acked: make(chan struct{}), done: make(chan struct{})}
	go e.run(ctx, want)
	return e
}

// run listens. The workload may end a subscription; then it is made again, as
// long as it is wanted (B10.12).
func (e *ear) run(ctx context.Context, want filter) {
	defer close(e.done)
	defer e.stop(nil)
	l := &listening{conv: e.h.conv, params: listenParams(e.h.conv.Discovered().Revision, want), acked: e.acknowledged, changed: e.changed}
	for ctx.Err() == nil {
		answer, err := l.run(ctx)
		if answer.Err != nil || err != nil && !passing(err) {
			e.mu.Lock()
			if e.end = answer.Err; e.end == nil {
				e.end = failed(ctx, err)
			}
			e.mu.Unlock()
			return
		}
		if pause(ctx, relistenFirst) != nil {
			return
		}
	}
}

// listenParams are those of our own subscriptions/listen.
func listenParams(revision string, want filter) []byte {
	b := append([]byte(`{"notifications":`), want.raw()...)
	b = strictjson.Quote(append(b, `,"_meta":{"`+mcp.MetaProtocolVersion+`":`...), revision)
	return append(b, `,"`+mcp.MetaClientInfo+`":`+clientInfo+`,"`+mcp.MetaClientCapabilities+`":{}}}`...)
}

// refusal is why the subscription ended before it was acknowledged.
func (e *ear) refusal() *jsonrpc.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.end == nil {
		return internal("the workload ended the subscription", mcp.ReasonStreamLost)
	}
	return e.end
}

// acknowledged makes this the subscription that counts. After a break all that
// may have changed is told (B10.7).
func (e *ear) acknowledged(honoured []byte, again bool) {
	if again {
		e.h.p.heard(mcp.NotifyToolsChanged)
		for _, raw := range missed(honoured) {
			if m, err := jsonrpc.Parse(raw, strictjson.FromWorkload); err == nil {
				e.h.tell(m, raw)
			}
		}
		return
	}
	e.h.replace(e)
	f, uris := readHonoured(honoured)
	e.h.agree(f, uris, nil, e.version)
	close(e.acked)
}

// changed hands a change on, unless the subscription beside this one already
// did.
func (e *ear) changed(in peer.Incoming) {
	m := in.Msg
	if !unsolicited(m.Method) || m.Method == mcp.NotifyElicitComplete {
		e.h.p.lossy(LossyNotification)
		return
	}
	raw := unforged(m)
	if raw == nil {
		return
	}
	bare, err := strictjson.Splice(raw, bareEdits(m)...)
	if err != nil {
		return
	}
	e.h.mu.Lock()
	first := e.h.twins.first(e == e.h.now, string(bare))
	e.h.mu.Unlock()
	if !first {
		return
	}
	e.h.p.heard(m.Method)
	e.h.tell(m, bare)
}

// bareEdits remove what belongs to the subscription (B10.12).
func bareEdits(m *jsonrpc.Message) []strictjson.Edit {
	only := true
	strictjson.Each(m.Meta, func(key, _ []byte) bool {
		only = string(key) == mcp.MetaSubscriptionID
		return only
	})
	if m.Meta != nil && only {
		return []strictjson.Edit{strictjson.Delete("params", "_meta")}
	}
	return []strictjson.Edit{strictjson.Delete("params", "_meta", mcp.MetaSubscriptionID)}
}

// maxTwins bounds what is remembered while two subscriptions overlap; beyond it
// a change may be told twice.
const maxTwins = 1024

// twins tells what came on both of two subscriptions that overlap from what
// came once: a change is told by whichever has it first.
type twins struct{ now, before map[string]int }

// first reports whether a change is new. current says on which of the two it
// came.
func (t *twins) first(current bool, change string) bool {
	if t.now == nil {
		t.now, t.before = map[string]int{}, map[string]int{}
	}
	mine, other := t.now, t.before
	if !current {
		mine, other = other, mine
	}
	if other[change] > mine[change] {
		mine[change]++
		return false
	}
	if len(mine) < maxTwins || mine[change] > 0 {
		mine[change]++
	}
	return true
}

// onceSession is a session that keeps one of several notifications that say the
// same while nobody reads (B10.12).
type onceSession interface{ NotifyOnce(raw []byte) error }

// tell gives a change to every session that wants it, on its own stream.
func (h *hub) tell(m *jsonrpc.Message, raw []byte) {
	h.mu.Lock()
	var to []dispatch.Session
	for s, f := range h.members {
		if f.wants(m.Method, m.Params) {
			to = append(to, s.s)
		}
	}
	h.mu.Unlock()
	for _, s := range to {
		if notifyOnce(s, raw) != nil {
			h.p.lossy(LossyNotification)
		}
	}
}

// notifyOnce tells a session of a change, unless it has yet to read of the same.
func notifyOnce(s dispatch.Session, raw []byte) error {
	if once, ok := s.(onceSession); ok {
		return once.NotifyOnce(raw)
	}
	return s.Notify(raw)
}
