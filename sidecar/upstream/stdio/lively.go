package stdio

import (
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of what is remembered of a workload; what is over them counts as never
// seen.
const (
	maxKinds     = 1024
	maxKindBytes = 256
)

// lively is what a workload was seen to answer at: how many calls at once, and
// calls of what kind. Some are done in a way that lets it answer, and some are
// not. All methods may be called concurrently; the zero value is ready.
type lively struct {
	mu    sync.Mutex
	most  int
	kinds map[string]struct{}
}

// saw notes that it has answered while it had these calls.
func (l *lively) saw(calls []peer.Pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = max(l.most, len(calls))
	if l.kinds == nil {
		l.kinds = map[string]struct{}{}
	}
	for _, c := range calls {
		if kind := kindOf(c); len(kind) <= maxKindBytes && len(l.kinds) < maxKinds {
			l.kinds[kind] = struct{}{}
		}
	}
}

// covers reports whether it has answered at no less than these calls.
func (l *lively) covers(calls []peer.Pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(calls) > l.most {
		return false
	}
	for _, c := range calls {
		if _, seen := l.kinds[kindOf(c)]; !seen {
			return false
		}
	}
	return true
}

// any reports whether it was ever seen to answer at a call.
func (l *lively) any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.most > 0
}

// kindOf tells calls apart that are served by different code: by their method
// and what it names.
func kindOf(c peer.Pending) string {
	switch c.Method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		raw, _ := strictjson.Get(c.Params, "name")
		return c.Method + " " + string(raw)
	}
	return c.Method
}
