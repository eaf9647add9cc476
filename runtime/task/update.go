package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// maxConflicts is how often one change is tried against others that come in
// between. Each lost try is somebody else's success.
const maxConflicts = 64

// errUnchanged is returned by a change that has nothing to do.
var errUnchanged = errors.New("unchanged")

// mutate changes the task behind an id; see change.
func (e *Engine) mutate(ctx context.Context, owner Owner, id string, edit func(r *Record) error) (Record, error) {
	r, err := e.read(ctx, owner, id)
	if err != nil {
		return Record{}, err
	}
	return e.change(ctx, r.Key, edit)
}

// change applies edit to the record by compare-and-set, as often as others
// come in between, and wakes who waits for it. It is the only place where a
// task moves: what is no move of the state machine, such as any of a terminal
// task, is refused (ErrOver, with the record). An error of edit ends it with
// the record as it is; errUnchanged without an error.
func (e *Engine) change(ctx context.Context, key string, edit func(r *Record) error) (Record, error) {
	for range maxConflicts {
		before, err := e.load(ctx, key)
		if err != nil {
			return Record{}, err
		}
		next := before
		if err := edit(&next); err != nil {
			if errors.Is(err, errUnchanged) {
				err = nil
			}
			return before, err
		}
		if !before.Status.To(next.Status) && !broken.Rule("W35.15") {
			return before, ErrOver
		}
		if visible(&before, &next) {
			next.Changes++
			next.Updated = e.o.Now()
		}
		err = e.put(ctx, next)
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err != nil {
			return before, stored(err)
		}
		next.Version++
		e.o.Notifier.Wake(key)
		e.moved(before.Status, next.Status)
		return next, nil
	}
	return Record{}, fmt.Errorf("%w: %w, again and again", ErrStore, ErrConflict)
}

func (e *Engine) put(ctx context.Context, r Record) error {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	return e.o.Store.Update(ctx, r)
}

// visible reports whether a client can see a difference.
func visible(a, b *Record) bool {
	if a.Status != b.Status || a.Message != b.Message || a.TTL != b.TTL || a.Poll != b.Poll {
		return true
	}
	return outstanding(a) != outstanding(b)
}

func outstanding(r *Record) (n int) {
	for i := range r.Inputs {
		if !r.Inputs[i].Answered() {
			n++
		}
	}
	return n
}

// Pauses between tries when the store cannot be used.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// insist is change for what must not be lost: while the store cannot be used
// it tries again, until ctx ends.
func (e *Engine) insist(ctx context.Context, key string, edit func(r *Record) error) (Record, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		r, err := e.change(ctx, key, edit)
		if !errors.Is(err, ErrStore) {
			return r, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return r, err
		}
	}
}

// cut brings a message into its bound, without half characters.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxMessage {
		return text
	}
	end := MaxMessage
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
