package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrTimeout: no answer in the time that the request had. It is also a
// context.DeadlineExceeded.
var ErrTimeout = fmt.Errorf("client: the request timed out: %w", context.DeadlineExceeded)

var errStopped = errors.New("client: the request has ended")

// CallOption changes one request.
type CallOption func(*callOptions)

type callOptions struct {
	progress   func(Progress)
	notify     func(Notification)
	timeout    time.Duration
	ceiling    time.Duration
	extend     bool
	idempotent bool
	level      string
	meta       map[string]json.RawMessage
	err        error
}

func options(list []CallOption) (o callOptions) {
	for _, f := range list {
		f(&o)
	}
	return o
}

// Progress is how far a request has come (W20).
type Progress struct {
	Progress float64
	// Total is 0 when it is not known.
	Total   float64
	Message string
	// Raw is the whole params object.
	Raw json.RawMessage
}

// OnProgress asks for progress. f is called in order, before the request
// returns, and delays only this request.
func OnProgress(f func(Progress)) CallOption { return func(o *callOptions) { o.progress = f } }

// OnNotification hears what comes on behalf of this request, progress included.
func OnNotification(f func(Notification)) CallOption { return func(o *callOptions) { o.notify = f } }

// Timeout replaces Options.Timeout for this request; negative: none.
func Timeout(d time.Duration) CallOption { return func(o *callOptions) { o.timeout = d } }

// ProgressExtends begins the timeout anew with each progress, up to most in
// all; 0: no such bound (W4.13).
func ProgressExtends(most time.Duration) CallOption {
	return func(o *callOptions) { o.extend, o.ceiling = true, most }
}

// RetryIfIdempotent lets a tool call be made again when nobody knows whether it
// ran, if the server's list says that the tool is idempotent or reads only.
func RetryIfIdempotent() CallOption { return func(o *callOptions) { o.idempotent = true } }

// LogAt asks for log messages of this request from a level on, where the
// revision asks per request (W6.9).
func LogAt(level string) CallOption { return func(o *callOptions) { o.level = level } }

// Meta adds a member to params._meta. value is anything that becomes JSON.
func Meta(key string, value any) CallOption {
	return func(o *callOptions) {
		raw, err := encoded(value)
		if err != nil || raw == nil {
			o.err = errors.Join(o.err, fmt.Errorf("client: _meta %q: %w", key, errors.Join(err, errNoValue(raw))))
			return
		}
		if o.meta == nil {
			o.meta = map[string]json.RawMessage{}
		}
		o.meta[key] = raw
	}
}

func errNoValue(raw []byte) error {
	if raw == nil {
		return errors.New("no value")
	}
	return nil
}

// inflight is a request on its way: its hooks and its clock.
type inflight struct {
	opts callOptions

	mu     sync.Mutex
	timer  *time.Timer
	limit  time.Duration
	until  time.Time // the hard bound; zero: none
	asked  int       // questions of the server that are being answered
	paused time.Time // since when the clock stands; zero: it does not
	over   bool
}

// clock bounds a request. The clock stands while the server waits for an answer
// of ours: a human may need long (W30.17).
func (f *inflight) clock(ctx context.Context, r *request, usual time.Duration) (context.Context, func()) {
	limit := r.opts.timeout
	if limit == 0 {
		limit = usual
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if limit < 0 || r.endless {
		return ctx, func() { cancel(errStopped) }
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = limit
	if f.opts.ceiling > 0 {
		f.until = time.Now().Add(f.opts.ceiling)
	}
	f.timer = time.AfterFunc(limit, func() { cancel(ErrTimeout) })
	return ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.over = true
		f.timer.Stop()
		cancel(errStopped)
	}
}

// left is the time that a new beginning gives; mu is held.
func (f *inflight) left() time.Duration {
	if f.until.IsZero() {
		return f.limit
	}
	return min(f.limit, time.Until(f.until))
}

// wind begins the timeout anew, within the hard bound; mu is held.
func (f *inflight) wind() {
	if f.timer != nil && !f.over && f.asked == 0 && f.timer.Stop() {
		f.timer.Reset(f.left())
	}
}

// ask stops the clock while questions are answered; the func returned says that
// one was, and with the last one the clock goes on.
func (f *inflight) ask() (answered func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked++; f.timer != nil && f.timer.Stop() {
		f.paused = time.Now()
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.asked--; f.asked > 0 || f.paused.IsZero() || f.over {
			return
		}
		if !f.until.IsZero() {
			f.until = f.until.Add(time.Since(f.paused))
		}
		f.paused = time.Time{}
		f.timer.Reset(f.left())
	}
}

// progressed takes a progress notification.
func (f *inflight) progressed(params []byte) {
	if f.opts.extend {
		f.mu.Lock()
		f.wind()
		f.mu.Unlock()
	}
	if f.opts.progress == nil {
		return
	}
	p := Progress{Raw: params, Message: text(params, "message")}
	p.Progress, _ = number(params, "progress")
	p.Total, _ = number(params, "total")
	f.opts.progress(p)
}

// bounded is a context with a timeout that is not one when d is negative.
func bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, ErrTimeout)
}
