package proxy

import (
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Leasing says when a call has a leg of a legacy workload to itself.
type Leasing string

// The ways (R24).
const (
	// LeaseAuto: what has proved to need it; and, where callers of different
	// people share a leg, what has not yet proved to ask nothing (P5).
	LeaseAuto   Leasing = "Auto"
	LeaseAlways Leasing = "Always"
	LeaseNever  Leasing = "Never"
)

// Bounds of lanes and of what is remembered of tools.
const (
	maxLanes      = 256  // of one key
	maxHabit      = 4096 // names
	maxHabitBytes = 256  // of a name, which clients choose
)

// habits remembers how calls have behaved, by method and, for tools, name.
type habits struct {
	how Leasing
	// apart is set once it is known that what belongs to a call comes on the
	// call's own stream: nobody else can be meant.
	apart atomic.Bool

	mu     sync.Mutex
	silent map[string]struct{} // has ended without a question
	mixed  map[string]struct{} // a question could not be attributed
}

// habit is the name that behaviour is remembered under.
func habit(method string, params []byte) string {
	if method != mcp.MethodToolsCall {
		return method
	}
	raw, _ := strictjson.Get(params, "name")
	name, _ := strictjson.String(raw)
	return method + " " + name
}

// alone reports whether a call needs a leg to itself. shared says that its leg
// serves different people.
func (h *habits) alone(name string, shared bool) bool {
	switch h.how {
	case LeaseAlways:
		return true
	case LeaseNever:
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.mixed[name]; ok {
		return true
	}
	_, silent := h.silent[name]
	return shared && !silent && !h.apart.Load()
}

// note remembers a name in a set, unless that is full or the name is long: then
// the call goes on being treated as unknown.
func (h *habits) note(set *map[string]struct{}, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *set == nil {
		*set = map[string]struct{}{}
	}
	if len(*set) < maxHabit && len(name) <= maxHabitBytes {
		(*set)[name] = struct{}{}
	}
}

func (h *habits) wasSilent(name string) { h.note(&h.silent, name) }
func (h *habits) wasMixed(name string)  { h.note(&h.mixed, name) }

// lanes gives calls that need a leg to themselves one that no other such call
// is on. All methods may be called concurrently; the zero value is ready.
type lanes struct {
	mu  sync.Mutex
	use map[upstream.Key][]lane
}

type lane struct {
	users int
	alone bool
}

// take finds the first lane that fits a call of a key, which has Lane 0, and
// returns the key with it; give gives it back.
func (l *lanes) take(key upstream.Key, alone bool) (out upstream.Key, give func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.use[key]
	at := -1
	for i := range all {
		if alone && all[i].users == 0 || !alone && !all[i].alone {
			at = i
			break
		}
	}
	switch {
	case at >= 0:
	case len(all) >= maxLanes:
		return key, nil, upstream.ErrBusy
	default:
		at = len(all)
		all = append(all, lane{})
	}
	all[at].users++
	all[at].alone = alone
	if l.use == nil {
		l.use = map[upstream.Key][]lane{}
	}
	l.use[key] = all
	out = key
	out.Lane = at
	return out, func() { l.give(key, at) }, nil
}

func (l *lanes) give(key upstream.Key, at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.use[key]
	if all[at].users--; all[at].users == 0 {
		all[at].alone = false
	}
	for len(all) > 0 && all[len(all)-1].users == 0 {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		delete(l.use, key)
		return
	}
	l.use[key] = all
}
