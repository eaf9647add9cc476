package edge

import (
	"net/http"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// A large body needs room besides its own: its values are read, held against a
// schema, answered. It is admitted for that many times its size (P18).
const (
	largeBody = 256 << 10
	largeRoom = 3
)

// room is what a body of n bytes takes of the budget.
func room(n int64) int64 {
	if n < largeBody {
		return n
	}
	return largeRoom * n
}

// smallBody is the most that a body may have that does not wait for its turn
// among the large ones. Nearly all messages are that small.
const smallBody = 64 << 10

// Body is a request body with what it holds of the budget; the zero value has
// not been read. It may not be copied.
type Body struct {
	// Data are the bytes; they stay valid after Release.
	Data   []byte
	holds  int64
	large  int64 // of the part for large bodies
	budget *stream.Budget
}

// Release gives the budget back. Once; it may be called from anywhere.
func (b *Body) Release() { b.keep(0) }

// keep gives back what is held beyond n bytes.
func (b *Body) keep(n int64) {
	excess := b.holds - n
	if excess <= 0 {
		return
	}
	large := min(excess, b.large)
	b.holds, b.large = b.holds-excess, b.large-large
	b.budget.Release(excess)
	b.budget.LeaveLarge(large)
}

// Hand gives the hold on the budget to another Body, which has no bytes.
func (b *Body) Hand() *Body {
	out := &Body{holds: b.holds, large: b.large, budget: b.budget}
	b.holds, b.large = 0, 0
	return out
}

// Limits bound a body.
type Limits struct {
	// Bytes is the size (413).
	Bytes int64
	// Time is what the bytes may take to arrive (408), and what a body waits
	// for room (503).
	Time time.Duration
	// Budget is what the body is counted in from its first byte on.
	Budget *stream.Budget
}

// Read takes the whole body of the request that w answers, once. What it says of
// its size takes no room: it is admitted for its first bytes, and for all of it
// once they have come; from then on it must go on coming (P18, P33.4). A body
// that is denied holds nothing.
func (b *Body) Read(w http.ResponseWriter, r *http.Request, l Limits) *Denial {
	if r.ContentLength > l.Bytes {
		return tooLarge()
	}
	b.budget = l.Budget
	in := intake{Body: b, w: w, r: r, limits: l}
	denial := in.take()
	if !in.deadline.IsZero() {
		// The deadline is the connection's: it must not outlive the body, or
		// it would end the request (P33.10).
		_ = in.control().SetReadDeadline(time.Time{})
	}
	if denial != nil {
		b.Release()
	}
	return denial
}

func tooLarge() *Denial {
	return deny(http.StatusRequestEntityTooLarge, hook.RejectTooLarge, "body is too large")
}

func tooSlow() *Denial {
	return deny(http.StatusRequestTimeout, hook.RejectSlowBody, "body took too long")
}
