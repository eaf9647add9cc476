package admin

import (
	"context"
	"sync/atomic"
	"time"
)

// Heart tells whether the process makes progress: it beats once a second, and
// each beat touches the locks that every request needs. A process that is
// starved or deadlocked stops beating. Make it with NewHeart.
type Heart struct {
	touch []func()
	late  time.Duration
	born  time.Time
	beat  atomic.Int64 // since born
}

const (
	beatEvery = time.Second
	beatLate  = 10 * time.Second
)

// NewHeart returns a Heart that calls each of touch at every beat. They must
// be quick.
func NewHeart(touch ...func()) *Heart {
	return &Heart{touch: touch, late: beatLate, born: time.Now()}
}

// Run beats until ctx ends.
func (h *Heart) Run(ctx context.Context) {
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		for _, f := range h.touch {
			f()
		}
		h.beat.Store(int64(time.Since(h.born)))
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// Beats is Source.Live.
func (h *Heart) Beats() string {
	if time.Since(h.born)-time.Duration(h.beat.Load()) > h.late {
		return "no progress for too long"
	}
	return ""
}
