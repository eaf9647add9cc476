package edge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// bodyStep is how much of a body without length is admitted at a time.
const bodyStep = 64 << 10

// A large body needs room besides its own: its values are read, held against a
// schema, answered. It is admitted for that many times its size (P18).
const (
	largeBody = 256 << 10
	largeRoom = 3
)

// room is what n more bytes of a body take of the budget, when it has so many
// in all.
func room(n, all int64) int64 {
	if all < largeBody {
		return n
	}
	return largeRoom * n
}

// smallBody is the most that a body may have that does not wait for its turn
// among the large ones. Nearly all messages are that small.
const smallBody = bodyStep

// Body is a request body with what it holds of the budget.
type Body struct {
	// Data are the bytes; they stay valid after Release.
	Data     []byte
	holds    int64
	large    int64 // of the part for large bodies
	budget   *stream.Budget
	deadline time.Time // first for room, then for the bytes and for more room
}

// Release gives the budget back. Once; it may be called from anywhere.
func (b *Body) Release() {
	b.budget.Release(b.holds)
	b.budget.LeaveLarge(b.large)
	b.holds, b.large = 0, 0
}

// Hand gives the hold on the budget to another Body, which has no bytes.
func (b *Body) Hand() *Body {
	out := &Body{holds: b.holds, large: b.large, budget: b.budget}
	b.holds, b.large = 0, 0
	return out
}

// Limits bound a body.
type Limits struct {
	Bytes  int64
	Time   time.Duration
	Budget *stream.Budget
}

// Read takes the whole body: bounded in size (413) and time (408), and
// admitted against the budget before it is read (P18).
func Read(rc *http.ResponseController, r *http.Request, l Limits) (*Body, *Denial) {
	if r.ContentLength > l.Bytes {
		return nil, tooLarge()
	}
	b := &Body{budget: l.Budget, deadline: time.Now().Add(l.Time)}
	size := r.ContentLength
	if size < 0 {
		size = min(bodyStep, l.Bytes)
	}
	if err := b.admit(r.Context(), room(size, size), size, size); err != nil {
		b.Release()
		return nil, Overloaded()
	}
	// Its bytes have their own time: the wait for room was ours.
	b.deadline = time.Now().Add(l.Time)
	timed := rc.SetReadDeadline(b.deadline) == nil
	denial := b.fill(r, size, l.Bytes)
	if timed {
		// The deadline is the connection's: it must not outlive the body, or
		// it would end the request (P33.10).
		_ = rc.SetReadDeadline(time.Time{})
	}
	if denial != nil {
		b.Release()
		return nil, denial
	}
	return b, nil
}

// fill reads the body, for which size bytes have been admitted.
func (b *Body) fill(r *http.Request, size, limit int64) *Denial {
	b.Data = make([]byte, 0, size+1) // one more, so that the end is seen without growing
	for {
		if len(b.Data) == cap(b.Data) {
			if int64(len(b.Data)) > limit {
				return tooLarge()
			}
			step := min(int64(len(b.Data)), limit+1-int64(len(b.Data)))
			if err := b.admit(r.Context(), room(step, int64(cap(b.Data))+step), step, int64(cap(b.Data))+step); err != nil {
				return Overloaded()
			}
			grown := make([]byte, len(b.Data), int64(len(b.Data))+step)
			copy(grown, b.Data)
			b.Data = grown
		}
		n, err := r.Body.Read(b.Data[len(b.Data):cap(b.Data)])
		b.Data = b.Data[:len(b.Data)+n]
		if int64(len(b.Data)) > limit {
			return tooLarge()
		}
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return deny(http.StatusRequestTimeout, hook.RejectSlowBody, "body took too long")
		case err != nil:
			return deny(http.StatusBadRequest, hook.RejectMessage, "body could not be read")
		}
	}
}

// admit takes n bytes of the budget for a body that will have all, waiting for
// them at most until the body's deadline. When the whole budget is less than
// that, at least is enough.
func (b *Body) admit(ctx context.Context, n, least, all int64) error {
	small := all <= smallBody
	if n == 0 || small && b.budget.AcquireNow(n) {
		b.holds += n
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, b.deadline)
	defer cancel()
	if !small {
		held, err := b.budget.EnterLarge(ctx, n, b.large)
		if err != nil {
			return err
		}
		b.large += held
	}
	err := b.budget.Acquire(ctx, n)
	if errors.Is(err, stream.ErrTooLarge) && n > least {
		n = least
		err = b.budget.Acquire(ctx, n)
	}
	if err != nil {
		return err
	}
	b.holds += n
	return nil
}

func tooLarge() *Denial {
	return deny(http.StatusRequestEntityTooLarge, hook.RejectTooLarge, "body is too large")
}
