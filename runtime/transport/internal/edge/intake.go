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

// firstBytes are what a body is admitted for before any of it has come.
const firstBytes = 4 << 10

// grace is the part of Limits.Time that a body which has begun to come may be
// behind an even arrival.
const grace = 6

// intake is a body on its way in.
type intake struct {
	*Body
	w        http.ResponseWriter
	r        *http.Request
	limits   Limits
	began    time.Time // later by what was waited for room, which was ours
	deadline time.Time // of reading, as last set; zero: none
}

func (in *intake) control() *http.ResponseController { return http.NewResponseController(in.w) }

// take reads the body in the steps that it is admitted by. No step but the last
// holds more than a small body, and nobody who waits for room holds a part of
// what the others wait for.
func (in *intake) take() *Denial {
	in.began = time.Now()
	for size := in.first(); ; size = in.next(size) {
		if err := in.admit(size); err != nil {
			return Overloaded()
		}
		end, denial := in.fill(size)
		switch {
		case denial != nil:
			return denial
		case end:
			in.keep(room(int64(len(in.Data))))
			return nil
		case size == in.limits.Bytes:
			return tooLarge()
		}
	}
}

// first and next are the sizes that the body is admitted for one after another.
func (in *intake) first() int64 {
	if in.r.ContentLength >= 0 {
		return min(in.r.ContentLength, firstBytes)
	}
	return min(firstBytes, in.limits.Bytes)
}

func (in *intake) next(size int64) int64 {
	switch {
	case in.r.ContentLength > size:
		return in.r.ContentLength
	case size < smallBody:
		return min(smallBody, in.limits.Bytes)
	}
	return in.limits.Bytes
}

// admit waits until there is room for a body of size, for as long as its bytes
// may take. When the whole budget is less than a large body may need, its size
// is enough.
func (in *intake) admit(size int64) error {
	n := room(size) - in.holds
	small := size <= smallBody
	if n <= 0 || small && in.budget.AcquireNow(n) {
		in.holds += max(n, 0)
		return nil
	}
	in.expect(time.Time{}) // what passed while nothing is read would fail the next read
	defer func(at time.Time) { in.began = in.began.Add(time.Since(at)) }(time.Now())
	ctx, cancel := context.WithTimeout(in.r.Context(), in.limits.Time)
	defer cancel()
	if !small {
		held, err := in.budget.EnterLarge(ctx, n)
		if err != nil {
			return err
		}
		in.large = held
	}
	err := in.budget.Acquire(ctx, n)
	if errors.Is(err, stream.ErrTooLarge) && n > size-in.holds {
		n = size - in.holds
		err = in.budget.Acquire(ctx, n)
	}
	if err != nil {
		in.budget.LeaveLarge(in.large)
		in.large = 0
		return err
	}
	in.holds += n
	return nil
}

// fill reads until the body ends or has more than size bytes, of which it then
// has one.
func (in *intake) fill(size int64) (end bool, denial *Denial) {
	began, from := in.began, int64(len(in.Data))
	if from > 0 {
		began = time.Now()
	}
	for {
		if len(in.Data) == cap(in.Data) {
			if int64(len(in.Data)) > size {
				return false, nil
			}
			in.grow(size)
		}
		in.expect(in.due(began, from, size))
		n, err := in.r.Body.Read(in.Data[len(in.Data):cap(in.Data)])
		in.Data = in.Data[:len(in.Data)+n]
		switch {
		case int64(len(in.Data)) > size:
			return false, nil
		case err == io.EOF:
			return true, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, tooSlow()
		case err != nil:
			return false, deny(http.StatusBadRequest, hook.RejectMessage, "body could not be read")
		}
	}
}

// grow makes place for size bytes and one more, by which it is seen that there
// are more: at once when they have been announced, else as they come.
func (in *intake) grow(size int64) {
	if in.r.ContentLength < 0 {
		size = min(size, max(2*int64(len(in.Data)), firstBytes))
	}
	grown := make([]byte, len(in.Data), size+1)
	copy(grown, in.Data)
	in.Data = grown
}

// due is when the next byte has to come, in a step of the body that began then
// with from bytes. The first bytes have all of Limits.Time; what comes after
// them, and may keep others from their room, is never far behind an even arrival
// in that time.
func (in *intake) due(began time.Time, from, size int64) time.Time {
	all := in.limits.Time
	by := in.began.Add(all)
	if from == 0 {
		return by
	}
	arrived := float64(int64(len(in.Data))-from) / float64(size+1-from)
	even := began.Add(all/grace + time.Duration(arrived*float64(all)))
	if even.Before(by) {
		return even
	}
	return by
}

// expect sets the deadline of reading, zero for none. Where it hardly changes it
// stays, not to set it for every piece of a quick body.
func (in *intake) expect(by time.Time) {
	if by.Sub(in.deadline).Abs() < in.limits.Time/grace/4 {
		return
	}
	if in.control().SetReadDeadline(by) == nil {
		in.deadline = by
	}
}
