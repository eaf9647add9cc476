package observe

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// other stands for every value outside a closed set.
const other = "_OTHER"

// maxTools bounds the tool names that become label values, for the life of the
// process (F2); maxToolName bounds each.
const (
	maxTools    = 200
	maxToolName = 128
)

// Tools is the set of tool names that are known because the workload said them
// or answered to them. It only grows, up to its bound. The zero value is
// ready; methods may be called concurrently.
type Tools struct {
	known atomic.Pointer[map[string]struct{}]
	mu    sync.Mutex // held while known is replaced
}

// Learn adds names; beyond the bound they stay unknown.
func (t *Tools) Learn(names ...string) {
	if !slices.ContainsFunc(names, func(n string) bool { return !t.has(n) }) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	next := make(map[string]struct{})
	if known := t.known.Load(); known != nil {
		for n := range *known {
			next[n] = struct{}{}
		}
	}
	for _, n := range names {
		if len(next) < maxTools && n != "" && len(n) <= maxToolName {
			next[n] = struct{}{}
		}
	}
	t.known.Store(&next)
}

func (t *Tools) has(name string) bool {
	known := t.known.Load()
	if known == nil {
		return false
	}
	_, ok := (*known)[name]
	return ok
}

// label is the label value for a tool name from a client.
func (t *Tools) label(name string) string {
	if name == "" || t.has(name) {
		return name
	}
	return other
}

// method, revision, transport and errorType map into closed sets whatever the
// caller promised.
func method(name string) string {
	if mcp.KnownMethod(name) {
		return name
	}
	return other
}

func revision(r string) string {
	if r == "" {
		return r
	}
	if _, known := mcp.Lookup(r); known {
		return r
	}
	return other
}

// transport is OpenTelemetry's network.transport.
func transport(binding string) string {
	if binding == mcp.Stdio.String() {
		return "pipe"
	}
	return "tcp"
}

func errorType(t string) string {
	switch t {
	case "", "tool_error", "timeout", "cancelled", "disconnected",
		string(peer.Ended), string(peer.Unreachable), string(peer.BadResponse), string(peer.TooLarge), string(peer.SessionGone),
		string(peer.StreamLost), string(peer.Status), string(peer.Auth), string(peer.HostRefused), string(peer.Redirected),
		string(peer.Busy), string(peer.Closed),
		"-32700", "-32600", "-32601", "-32602", "-32603", "-32000", "-32001", "-32002", "-32042", "-32020", "-32021", "-32022", "-1":
		return t
	}
	return other
}
