package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
)

// Bounds of what an Events has yet to be told, of all streams together: its
// events and their bytes, and the time of one call.
const (
	maxUnkept      = 1024
	maxUnkeptBytes = 4 << 20
	keepTime       = 2 * time.Second
)

// ErrBehind: events come faster than the Events of a Store takes them. What
// was kept of the stream is given up.
var ErrBehind = errors.New("events come faster than they can be kept")

// keeper tells an Events what streams send: in order, and by a goroutine of its
// own, because nobody who sends waits for a store. Across a gap nothing can be
// resumed: a stream of which an event was not kept is given up whole. A nil
// keeper keeps nothing.
type keeper struct {
	events Events
	failed func(error)

	mu      sync.Mutex
	queue   []unkept
	bytes   int64 // of the events in queue
	behind  bool  // an event found no room since failed was told
	running bool
	leaving bool
	done    chan struct{} // closed when nothing runs any more; nil unless somebody waits
}

// unkept is an event that is yet to be kept, or a stream to give up when its
// number is 0.
type unkept struct {
	st *Stream
	Event
}

// keeping is what a keeper knows of a stream, under keeper.mu.
type keeping uint8

const (
	notKept keeping = iota
	isKept
	givenUp
)

// keep takes an event; the stream's mu is held.
func (k *keeper) keep(st *Stream, e Event) {
	if k == nil || st.handle == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if st.keeping == givenUp {
		return
	}
	if len(k.queue) >= maxUnkept || len(k.queue) > 0 && k.bytes+e.cost() > maxUnkeptBytes {
		k.behind = true
		k.giveUpLocked(st)
		return
	}
	st.keeping = isKept
	k.bytes += e.cost()
	k.push(unkept{st, e})
}

// gap is for an event of a stream that is lost.
func (k *keeper) gap(st *Stream) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.giveUpLocked(st)
}

// giveUp forgets what is kept of a stream. Once the process leaves it stays,
// for another one.
func (k *keeper) giveUp(st *Stream) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.leaving {
		k.giveUpLocked(st)
	}
}

// giveUpLocked adds at most one entry for a stream, beyond maxUnkept: they are
// bounded like the streams are.
func (k *keeper) giveUpLocked(st *Stream) {
	was := st.keeping
	st.keeping = givenUp
	if was == isKept {
		k.push(unkept{st: st})
	}
}

func (k *keeper) push(u unkept) {
	k.queue = append(k.queue, u)
	if !k.running {
		k.running = true
		go k.run()
	}
}

// run tells what is in the queue until there is nothing.
func (k *keeper) run() {
	for {
		k.mu.Lock()
		behind := k.behind
		k.behind = false
		if len(k.queue) == 0 {
			k.queue, k.running = nil, false
			if k.done != nil {
				close(k.done)
				k.done = nil
			}
			k.mu.Unlock()
			return
		}
		u := k.queue[0]
		k.queue[0] = unkept{}
		k.queue = k.queue[1:]
		if u.Seq > 0 {
			k.bytes -= u.cost()
		}
		useless := u.Seq > 0 && u.st.keeping == givenUp
		k.mu.Unlock()
		if behind {
			k.report(ErrBehind)
		}
		if useless {
			continue
		}
		if err := k.tell(u); err != nil {
			k.report(err)
			if u.Seq > 0 {
				k.mu.Lock()
				k.giveUpLocked(u.st)
				k.mu.Unlock()
			}
		}
	}
}

// tell makes one call of the Events. A panic of it is an error.
func (k *keeper) tell(u unkept) (err error) {
	ctx, stop := context.WithTimeout(context.Background(), keepTime)
	defer stop()
	fence.Call(func(v any, _ []byte) { err = fmt.Errorf("the store of events panicked: %v", v) }, func() {
		if u.Seq > 0 {
			err = k.events.Append(ctx, u.st.handle, u.Event)
		} else {
			err = k.events.Drop(ctx, u.st.handle)
		}
	})
	return err
}

func (k *keeper) report(err error) {
	if k.failed != nil {
		fence.Call(nil, func() { k.failed(err) })
	}
}

// leave keeps what is kept from now on, however its streams end.
func (k *keeper) leave() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaving = true
}

// wait returns when all has been told, or ctx ends, whose cause it returns.
func (k *keeper) wait(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	if !k.running {
		k.mu.Unlock()
		return nil
	}
	if k.done == nil {
		k.done = make(chan struct{})
	}
	done := k.done
	k.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
