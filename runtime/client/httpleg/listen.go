package httpleg

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/sse"
)

// listen keeps one standalone GET open for the life of the leg (P6): servers
// send requests and notifications there and drop them if nobody listens.
func (l *Leg) listen() {
	var at position
	for attempt := 0; ; attempt++ {
		resp, final := l.reopen(l.ctx, at.lastID)
		switch {
		case l.ctx.Err() != nil:
			if resp != nil {
				_ = resp.Body.Close()
			}
			return
		case final:
			// 405: this server has no such stream (W8.12).
			l.told("refused")
			return
		case resp != nil:
			l.told("open")
			if l.hear(resp, &at) {
				attempt = 0
			}
			if l.ctx.Err() != nil {
				return
			}
			l.told("lost")
		}
		d := at.delay(attempt)
		if pause.For(l.ctx, d+rand.N(d/4+time.Millisecond)) != nil {
			return
		}
	}
}

// hear delivers what comes on the stream until it ends; it reports whether
// anything came.
func (l *Leg) hear(resp *http.Response, at *position) (any bool) {
	defer resp.Body.Close()
	body, err := decoded(resp)
	if err != nil {
		return false
	}
	reader := sse.Reader{R: body, MaxEvent: l.cfg.MaxMessageBytes}
	for {
		ev, err := reader.Next()
		if errors.Is(err, sse.ErrTooLong) {
			// Asking for it again would bring the same event.
			*at = position{retry: at.retry}
			l.recv.Broken(salvage.Peek{Object: true, Method: true}, nil, peer.TooLarge)
		}
		if err != nil {
			return any
		}
		any = true
		at.note(&ev)
		if ev.IsMessage() {
			l.recv.Deliver(ev.Data)
		}
	}
}

func (l *Leg) told(outcome string) {
	if l.cfg.Hooks.Listening != nil {
		l.cfg.Hooks.Listening(outcome)
	}
}
