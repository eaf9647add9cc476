package proxy

import (
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxEarly bounds what is kept for a listener before its acknowledgement.
const maxEarly = 256

// hearer is one subscriptions/listen in flight on a leg.
type hearer struct {
	p  *Proxy
	x  *dispatch.Exchange
	id []byte

	mu       sync.Mutex
	kinds    map[string]bool // methods
	uris     []string
	honoured []byte // the filter as it was acknowledged; nil before
	early    [][]byte
}

// hears reports whether a change concerns it: a resource that it named, or a
// part of one (W26.8).
func (h *hearer) hears(method, uri string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if method != mcp.NotifyResourceUpdated {
		return h.kinds[method]
	}
	for _, u := range h.uris {
		if uri == u || strings.HasPrefix(uri, strings.TrimSuffix(u, "/")+"/") {
			return true
		}
	}
	return false
}

// tell sends a notification under the name of the subscription (W33.5), after
// the acknowledgement and never before (W33.3).
func (h *hearer) tell(raw []byte) {
	named, err := strictjson.Splice(raw, strictjson.Set(h.id, "params", "_meta", mcp.MetaSubscriptionID))
	if err != nil {
		h.p.lossy(LossyNotification)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.honoured == nil && len(h.early) < maxEarly {
		h.early = append(h.early, named)
		return
	}
	if h.honoured == nil || h.x.Notify(named) != nil {
		h.p.lossy(LossyNotification)
	}
}

// acknowledge says what is honoured, and then what came meanwhile. The error is
// that nothing can be sent.
func (h *hearer) acknowledge(honoured []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := append([]byte(`{"jsonrpc":"2.0","method":"`+mcp.NotifyAcknowledged+`","params":{"notifications":`), honoured...)
	b = append(append(append(b, `,"_meta":{"`+mcp.MetaSubscriptionID+`":`...), h.id...), "}}}"...)
	if err := h.x.Notify(b); err != nil {
		return err
	}
	h.honoured = honoured
	for _, raw := range h.early {
		if h.x.Notify(raw) != nil {
			h.p.lossy(LossyNotification)
		}
	}
	h.early = nil
	return nil
}

// missed tells it that anything may have changed (B10.7).
func (h *hearer) missed() {
	h.mu.Lock()
	honoured := h.honoured
	h.mu.Unlock()
	if honoured == nil {
		return
	}
	for _, raw := range missed(honoured) {
		h.tell(raw)
	}
}
