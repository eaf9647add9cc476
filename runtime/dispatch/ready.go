package dispatch

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// A client has come back after initialize with notifications/initialized, another
// message, or a stream of its own. Until then it is told nothing but log messages
// and asked nothing but ping (W4.7); the requests that it sends are served at
// once (R9).

// early is what waits for a client that has not come back.
type early struct {
	flushing bool
	came     chan struct{} // closed when it has
	held     *stream.Waiting
}

// Ready says that the client has come back. What was held is sent first.
func (l *Legacy) Ready() {
	if l.ready.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.early
	if l.ready.Load() || e != nil && e.flushing {
		return
	}
	if e != nil {
		e.flushing = true
		l.flush(e)
		close(e.came)
	}
	l.early = nil
	l.ready.Store(true)
}

// flush sends what is held, and what comes meanwhile; l.mu is held, but not
// while something is sent.
func (l *Legacy) flush(e *early) {
	for batch := e.held.Take(); batch != nil; batch = e.held.Take() {
		l.mu.Unlock()
		for _, raw := range batch {
			_ = l.Push(raw) // a session that has ended misses nothing
		}
		l.mu.Lock()
	}
}

// waitingRoom is where things wait; l.mu is held.
func (l *Legacy) waitingRoom() *early {
	if l.early == nil {
		l.early = &early{came: make(chan struct{}), held: l.Waiting()}
	}
	return l.early
}

// push sends an unsolicited notification, now or when the client is ready. The
// oldest is lost when too many wait.
func (l *Legacy) push(raw []byte) error {
	l.mu.Lock()
	if l.ready.Load() || l.closed != nil || isLog(raw) {
		l.mu.Unlock()
		return l.Push(raw)
	}
	defer l.mu.Unlock()
	for range l.waitingRoom().held.Add(raw) {
		l.d.Observer.Drop(hook.DropNoStream)
	}
	return nil
}

func isLog(raw []byte) bool {
	method, _ := strictjson.Get(raw, "method")
	return string(method) == `"`+mcp.NotifyMessage+`"`
}

// awaitReady waits until the client may be asked something; false when ctx or
// the session ended first.
func (l *Legacy) awaitReady(ctx context.Context) bool {
	l.mu.Lock()
	if l.ready.Load() {
		l.mu.Unlock()
		return true
	}
	came := l.waitingRoom().came
	l.mu.Unlock()
	select {
	case <-came:
		return true
	case <-ctx.Done():
	case <-l.Context().Done():
	}
	return false
}
