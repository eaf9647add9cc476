package task

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// List returns the owner's tasks, oldest first, at most n (0 means 50), without
// their outcomes. An empty cursor begins; next is empty when there are no more
// (W35.16). Errors: ErrCursor, also for a cursor of another principal;
// ErrUnknown for an owner that cannot list; ErrStore.
func (e *Engine) List(ctx context.Context, owner Owner, cursor string, n int) (tasks []Task, next string, err error) {
	if !e.CanList(owner) {
		return nil, "", ErrUnknown
	}
	after, err := e.position(owner, cursor)
	if err != nil {
		return nil, "", err
	}
	if n <= 0 {
		n = DefaultPage
	}
	now := e.o.Now()
	for {
		page, err := e.page(ctx, owner, after, n+1)
		if err != nil {
			return nil, "", err
		}
		for i := range page {
			r := &page[i]
			if len(tasks) == n {
				next, err = e.cursor(owner, after)
				return tasks, next, err
			}
			after = Position{Created: r.Created, Key: r.Key}
			if now.Before(r.Expires) {
				tasks = append(tasks, taskOf(r))
			}
		}
		if len(page) <= n {
			return tasks, "", nil
		}
	}
}

func (e *Engine) page(ctx context.Context, owner Owner, after Position, n int) ([]Record, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	page, err := e.o.Store.List(ctx, owner.account(), after, n)
	return page, stored(err)
}

// cursorKind begins the plain form of our cursors, so that those of other lists
// under the same keys mean nothing here.
const cursorKind = "tasks/list\x00"

func (e *Engine) cursor(owner Owner, at Position) (string, error) {
	b := append([]byte(cursorKind), owner.account()...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(at.Created.UnixNano()))
	return e.o.Keys.Seal(seal.PurposeCursor, append(b, at.Key...))
}

func (e *Engine) position(owner Owner, cursor string) (Position, error) {
	if cursor == "" {
		return Position{}, nil
	}
	plain, err := e.o.Keys.Open(seal.PurposeCursor, cursor)
	if err != nil {
		return Position{}, ErrCursor
	}
	head := cursorKind + owner.account() + "\x00"
	if len(plain) <= len(head)+8 || string(plain[:len(head)]) != head {
		return Position{}, ErrCursor
	}
	plain = plain[len(head):]
	created := time.Unix(0, int64(binary.BigEndian.Uint64(plain)))
	return Position{Created: created, Key: string(plain[8:])}, nil
}
