package client

import (
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// What waits for a slow reader is bounded; beyond that the oldest goes and the
// next one says that something was missed. A single one may be larger.
const (
	maxChanges     = 1024
	maxChangeBytes = 8 << 20
)

// changes is a queue in which notifications that say the same are kept once:
// the newest, in the place of the first.
type changes struct {
	wake chan struct{} // cap 1

	mu    sync.Mutex
	order []string
	byKey map[string]Notification
	bytes int
	lost  bool
}

func newChanges() *changes {
	return &changes{wake: make(chan struct{}, 1), byKey: map[string]Notification{}}
}

// key is what a notification is about.
func key(n Notification) string {
	return n.Method + "\x00" + text(n.Params, "uri") + text(n.Params, "taskId")
}

func (q *changes) add(n Notification) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := key(n)
	before, waits := q.byKey[k]
	if waits {
		q.bytes -= len(before.Params)
	} else {
		q.order = append(q.order, k)
	}
	q.byKey[k] = n
	q.bytes += len(n.Params)
	for len(q.order) > maxChanges || q.bytes > maxChangeBytes && len(q.order) > 1 {
		q.pop()
		q.lost = true
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// missed adds a notification for each thing that may have changed unseen.
func (q *changes) missed(f Filter) {
	for _, one := range []struct {
		on     bool
		method string
	}{{f.Tools, mcp.NotifyToolsChanged}, {f.Prompts, mcp.NotifyPromptsChanged}, {f.Resources, mcp.NotifyResourcesChanged}} {
		if one.on {
			q.add(Notification{Method: one.method, Missed: true})
		}
	}
	for _, uri := range f.URIs {
		q.add(Notification{Method: mcp.NotifyResourceUpdated, Params: uriParams(uri), Missed: true})
	}
}

func (q *changes) take() (n Notification, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return n, false
	}
	n = q.pop()
	n.Missed = n.Missed || q.lost
	q.lost = false
	return n, true
}

// pop takes the oldest; q.mu is held and there is one.
func (q *changes) pop() Notification {
	k := q.order[0]
	q.order = q.order[1:]
	n := q.byKey[k]
	delete(q.byKey, k)
	q.bytes -= len(n.Params)
	return n
}

// pump hands out what is queued until done is closed.
func (q *changes) pump(done <-chan struct{}, f func(Notification)) {
	for {
		select {
		case <-done:
			return
		case <-q.wake:
		}
		for {
			n, ok := q.take()
			if !ok {
				break
			}
			f(n)
		}
	}
}

// subscriptions are those of a session: what it tells goes to whoever asked.
type subscriptions struct {
	mu     sync.Mutex
	all    map[*Subscription]struct{}
	counts map[wanted]int
}

// wanted is a resource that a session is subscribed to.
type wanted struct {
	v   *conversation
	uri string
}

func (s *subscriptions) add(one *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*Subscription]struct{}{}
	}
	s.all[one] = struct{}{}
}

func (s *subscriptions) remove(one *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, one)
}

// count changes how many want a resource, and returns how many do.
func (s *subscriptions) count(v *conversation, uri string, delta int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[wanted]int{}
	}
	w := wanted{v, uri}
	n := s.counts[w] + delta
	if n <= 0 {
		delete(s.counts, w)
		return 0
	}
	s.counts[w] = n
	return n
}

// heard gives a notification of a session to those whose filter it passes.
func (s *subscriptions) heard(n Notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.all {
		if one.filter.passes(n) {
			one.queue.add(n)
		}
	}
}

// passes reports whether a notification is of what was asked for (W33.1). A
// resource's own parts count as it (W26.8).
func (f Filter) passes(n Notification) bool {
	switch n.Method {
	case mcp.NotifyToolsChanged:
		return f.Tools
	case mcp.NotifyPromptsChanged:
		return f.Prompts
	case mcp.NotifyResourcesChanged:
		return f.Resources
	case mcp.NotifyTaskStatus, mcp.NotifyTasks:
		return has(f.Tasks, text(n.Params, "taskId"))
	case mcp.NotifyResourceUpdated:
		uri := text(n.Params, "uri")
		for _, of := range f.URIs {
			if uri == of || strings.HasPrefix(uri, strings.TrimSuffix(of, "/")+"/") {
				return true
			}
		}
	}
	return false
}
