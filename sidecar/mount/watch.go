package mount

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher calls back whenever a directory may have changed. Its fields are
// read-only once Run is called.
type Watcher struct {
	// Dir is watched as a directory: the files in it are symlinks that never
	// change themselves.
	Dir string
	// Poll is how often to look without a notice, for file systems that send
	// none and for a directory that is not there yet. Zero means 10 s.
	Poll time.Duration
	// Settle is how long to wait for more notices before calling back, so
	// that a file written in pieces is read once. Zero means 50 ms.
	Settle time.Duration
	// Changed is called from Run's goroutine, never concurrently: once at the
	// start, after notices, and at every poll. It must be cheap when nothing
	// changed.
	Changed func()
}

// Run watches until ctx ends. A directory that does not exist, vanishes or
// cannot be watched is polled.
func (w *Watcher) Run(ctx context.Context) {
	poll, settle := w.Poll, w.Settle
	if poll <= 0 {
		poll = 10 * time.Second
	}
	if settle <= 0 {
		settle = 50 * time.Millisecond
	}
	n := newNotices(w.Dir)
	defer n.close()

	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	w.Changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			n.renew()
		case <-n.events():
			if !n.settle(ctx, settle) {
				return
			}
		case err := <-n.errors():
			_ = err // an overflowed queue has lost notices: look now
		}
		w.Changed()
	}
}

// notices wraps the operating system's watch, which may be missing.
type notices struct {
	dir string
	fs  *fsnotify.Watcher // nil: polling only
}

func newNotices(dir string) *notices {
	n := &notices{dir: dir}
	n.renew()
	return n
}

// renew watches the directory again: adding one that is watched is a no-op,
// and one that was removed and made anew has lost its watch.
func (n *notices) renew() {
	if n.fs == nil {
		fs, err := fsnotify.NewWatcher()
		if err != nil {
			return // out of inotify instances: polling still works
		}
		n.fs = fs
	}
	_ = n.fs.Add(n.dir) // a missing directory is polled for
}

func (n *notices) events() <-chan fsnotify.Event {
	if n.fs == nil {
		return nil
	}
	return n.fs.Events
}

func (n *notices) errors() <-chan error {
	if n.fs == nil {
		return nil
	}
	return n.fs.Errors
}

// settle swallows notices until none came for d, at most 20 times d, and
// reports whether ctx is still alive.
func (n *notices) settle(ctx context.Context, d time.Duration) bool {
	quiet := time.NewTimer(d)
	defer quiet.Stop()
	most := time.NewTimer(20 * d)
	defer most.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-quiet.C:
			return true
		case <-most.C:
			return true
		case <-n.events():
			quiet.Reset(d)
		}
	}
}

func (n *notices) close() {
	if n.fs != nil {
		_ = n.fs.Close()
	}
}
