package client

import (
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// taskBoard wakes whoever waits for a task when the server tells of it.
type taskBoard struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]struct{}
}

func (b *taskBoard) watch(id string) (wake <-chan struct{}, forget func()) {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = map[string]map[chan struct{}]struct{}{}
	}
	if b.waiting[id] == nil {
		b.waiting[id] = map[chan struct{}]struct{}{}
	}
	b.waiting[id][ch] = struct{}{}
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if delete(b.waiting[id], ch); len(b.waiting[id]) == 0 {
			delete(b.waiting, id)
		}
	}
}

func (b *taskBoard) heard(n Notification) {
	if n.Method != mcp.NotifyTaskStatus && n.Method != mcp.NotifyTasks {
		return
	}
	id := text(n.Params, "taskId")
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.waiting[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
