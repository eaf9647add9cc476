package streamable

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

// body is a request body with what it holds of the budget.
type body struct {
	data     []byte
	holds    int64
	budget   *stream.Budget
	deadline time.Time // for the bytes, and for room to put them
}

// release gives the budget back; the bytes stay valid.
func (b *body) release() {
	b.budget.Release(b.holds)
	b.holds = 0
}

// read takes the whole body: bounded in size (413) and time (408), and
// admitted against the budget before it is read (P18).
func (q *request) read() (*body, *refusal) {
	limit := q.settings.MaxBodyBytes
	if q.r.ContentLength > limit {
		return nil, tooLarge()
	}
	deadline := time.Now().Add(q.settings.BodyTimeout)
	timed := q.rc.SetReadDeadline(deadline) == nil
	b := &body{budget: q.s.Budget, deadline: deadline}
	refusal := q.fill(b, limit)
	if timed {
		// The deadline is the connection's: it must not outlive the body, or
		// it would end the request (P33.10).
		_ = q.rc.SetReadDeadline(time.Time{})
	}
	if refusal != nil {
		b.release()
		return nil, refusal
	}
	return b, nil
}

func (q *request) fill(b *body, limit int64) *refusal {
	size := q.r.ContentLength
	if size < 0 {
		size = min(bodyStep, limit)
	}
	if err := b.admit(q.r.Context(), size); err != nil {
		return overloaded()
	}
	b.data = make([]byte, 0, size+1) // one more, so that the end is seen without growing
	for {
		if len(b.data) == cap(b.data) {
			if int64(len(b.data)) > limit {
				return tooLarge()
			}
			step := min(int64(len(b.data)), limit+1-int64(len(b.data)))
			if err := b.admit(q.r.Context(), step); err != nil {
				return overloaded()
			}
			grown := make([]byte, len(b.data), int64(len(b.data))+step)
			copy(grown, b.data)
			b.data = grown
		}
		n, err := q.r.Body.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if int64(len(b.data)) > limit {
			return tooLarge()
		}
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return invalid(http.StatusRequestTimeout, hook.RejectSlowBody, "body took too long").closing()
		case err != nil:
			return invalid(http.StatusBadRequest, hook.RejectMessage, "body could not be read").closing()
		}
	}
}

// admit takes n bytes of the budget, waiting for them at most until the body's
// deadline.
func (b *body) admit(ctx context.Context, n int64) error {
	if n == 0 || b.budget.AcquireNow(n) {
		b.holds += n
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, b.deadline)
	defer cancel()
	if err := b.budget.Acquire(ctx, n); err != nil {
		return err
	}
	b.holds += n
	return nil
}

func tooLarge() *refusal {
	return invalid(http.StatusRequestEntityTooLarge, hook.RejectTooLarge, "body is too large").closing()
}

func overloaded() *refusal {
	return unavailable(hook.RejectOverload, "no memory for the body").closing()
}
