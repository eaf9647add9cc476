package duplex

import "sync"

// lane runs funcs one after another on a goroutine that exists only while there
// are some. The zero value is ready.
type lane struct {
	mu      sync.Mutex
	queue   []func()
	running bool
}

// add queues f; false when the lane is full.
func (l *lane) add(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) >= MaxLane {
		return false
	}
	l.queue = append(l.queue, f)
	if !l.running {
		l.running = true
		go l.run()
	}
	return true
}

func (l *lane) run() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.queue, l.running = nil, false
			l.mu.Unlock()
			return
		}
		f := l.queue[0]
		l.queue[0] = nil
		l.queue = l.queue[1:]
		l.mu.Unlock()
		f()
	}
}
