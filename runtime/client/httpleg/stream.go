package httpleg

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/sse"
)

// Clocks and bounds of streams.
const (
	deleteTimeout = 5 * time.Second
	// drainTime is how long a stream may take to end after its answer.
	drainTime = 250 * time.Millisecond
	// Delays before a stream is opened again: what the server asked for, up to
	// maxRetry, else from firstRetry doubling to maxBackoff.
	firstRetry = time.Second
	maxBackoff = 30 * time.Second
	maxRetry   = 2 * time.Minute
	// maxAttempts bounds resumptions that brought nothing new.
	maxAttempts = 5
)

// position is where a stream can be taken up again.
type position struct {
	lastID string
	retry  time.Duration // what the server asked for; 0: nothing
}

func (p *position) note(ev *sse.Event) (moved bool) {
	if ev.RetryMS >= 0 {
		p.retry = min(time.Duration(ev.RetryMS)*time.Millisecond, maxRetry)
	}
	if ev.HasID && ev.ID != p.lastID {
		p.lastID, moved = ev.ID, true
	}
	return moved
}

func (p *position) delay(attempt int) time.Duration {
	if p.retry > 0 {
		return p.retry
	}
	return min(firstRetry<<min(attempt, 10), maxBackoff)
}

// stream reads a response stream until the answer, and takes it up again where
// the server gave ids (B3.9): closing early is normal operation there (W8.8).
func (l *Leg) stream(ctx context.Context, out *peer.Outgoing, resp *http.Response, r io.Reader) error {
	var at position
	for attempt := 0; ; {
		moved, err := l.events(out, resp, r, &at)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if at.lastID == "" || out.Revision != "" || errors.Is(err, sse.ErrTooLong) {
			return lost(err)
		}
		if moved {
			attempt = 0
		}
		for resp = nil; resp == nil; attempt++ {
			if attempt >= maxAttempts {
				return lost(err)
			}
			if cause := pause.For(ctx, at.delay(attempt)); cause != nil {
				return cause
			}
			var final bool
			if resp, final = l.reopen(ctx, at.lastID); final {
				return lost(err)
			}
		}
		if l.cfg.Hooks.Resumed != nil {
			l.cfg.Hooks.Resumed()
		}
		if r, err = decoded(resp); err != nil {
			discard(resp)
			return lost(err)
		}
	}
}

// lost says why a stream ended without an answer.
func lost(err error) error {
	switch {
	case errors.Is(err, sse.ErrTooLong):
		return &peer.Failure{Reason: peer.TooLarge, Err: err}
	case errors.Is(err, io.EOF):
		return &peer.Failure{Reason: peer.StreamLost, Err: err}
	}
	return &peer.Failure{Reason: peer.Ended, Err: err}
}

// events delivers messages until the answer (nil) or the end of the stream.
func (l *Leg) events(out *peer.Outgoing, resp *http.Response, r io.Reader, at *position) (moved bool, err error) {
	reader := sse.Reader{R: r, MaxEvent: l.cfg.MaxMessageBytes}
	for {
		ev, err := reader.Next()
		if err != nil {
			_ = resp.Body.Close()
			return moved, err
		}
		moved = at.note(&ev) || moved
		if ev.IsMessage() && out.Deliver(ev.Data) {
			l.wg.Go(func() { finish(resp) })
			return moved, nil
		}
	}
}

// finish lets a stream end by itself for a moment, so that its connection can
// be used again.
func finish(resp *http.Response) {
	t := time.AfterFunc(drainTime, func() { _ = resp.Body.Close() })
	defer t.Stop()
	discard(resp)
}

// reopen asks for the rest of a stream. final means that there is no point in
// asking again.
func (l *Leg) reopen(ctx context.Context, lastID string) (resp *http.Response, final bool) {
	resp, err := l.do(ctx, http.MethodGet, nil, func(h http.Header) {
		h["Accept"] = []string{acceptStream}
		if lastID != "" {
			h[headerLastID] = []string{lastID}
		}
	})
	if err != nil {
		return nil, false
	}
	if resp.StatusCode == http.StatusOK {
		return resp, false
	}
	discard(resp)
	if resp.StatusCode == http.StatusNotFound && l.SessionID() != "" && l.look(ctx) {
		l.setGone() // W10.6, W10.7
		if l.cfg.Hooks.Gone != nil {
			l.cfg.Hooks.Gone()
		}
	}
	return nil, !passing(resp.StatusCode)
}

// passing lists statuses that may be different a moment later.
func passing(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}
