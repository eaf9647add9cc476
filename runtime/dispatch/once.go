package dispatch

import (
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// NotifyOnce is Notify for a notification that says nothing new while the same
// one still waits for the client: that a list has changed, or a resource
// (B10.12).
func (l *Legacy) NotifyOnce(raw []byte) error {
	req := l.request(nil)
	return l.d.notify(l.Context(), &req, jsonrpc.ID{}, raw, func(raw []byte) error {
		line := strictjson.OneLine(raw)
		if l.waits(line) {
			return nil
		}
		if l.ready.Load() {
			return l.PushOnce(line)
		}
		return l.push(line)
	})
}

// waits reports whether the same notification is held for a client that has not
// come back.
func (l *Legacy) waits(line []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.early != nil && l.early.held.Has(line)
}
