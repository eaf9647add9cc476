package sseleg

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/sse"
)

var errNoEndpoint = &peer.Failure{Reason: peer.BadResponse, NotDelivered: true, Err: errors.New("the server did not say where to POST")}

// listen opens the stream and delivers what comes on it; the error is why it
// ended.
func (l *Leg) listen() error {
	late := time.AfterFunc(l.cfg.OpenTimeout, func() { l.cancel(errNoEndpoint) })
	defer late.Stop()
	resp, err := l.do(l.ctx, http.MethodGet, l.cfg.URL, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, bodyBytes))
		err := statusFailure(resp.StatusCode, body)
		var f *peer.Failure
		if errors.As(err, &f) && f.Reason == peer.SessionGone {
			f.Reason = peer.Status // there was no session yet
		}
		return err
	}
	events := sse.Reader{R: resp.Body, MaxEvent: l.cfg.MaxMessageBytes}
	open := false
	for {
		ev, err := events.Next()
		if err != nil {
			return l.lost(err)
		}
		switch {
		case ev.Name == "endpoint":
			if err := l.point(resp.Request.URL, string(ev.Data), open); err != nil {
				return err
			}
			open = true
			late.Stop()
		case !open && len(ev.Data) > 0:
			return errNoEndpoint // W13.2: it comes first
		case ev.IsMessage():
			l.recv.Deliver(ev.Data)
		}
	}
}

// point notes where to POST. A server may move it later on.
func (l *Leg) point(stream *url.URL, data string, open bool) error {
	to, err := Endpoint(stream, data)
	if err != nil {
		return &peer.Failure{Reason: peer.BadResponse, NotDelivered: !open, Err: err}
	}
	l.mu.Lock()
	l.endpoint = to
	l.mu.Unlock()
	if !open {
		close(l.ready)
	}
	return nil
}

// lost says why the stream ended.
func (l *Leg) lost(err error) error {
	if cause := context.Cause(l.ctx); cause != nil {
		return cause
	}
	if errors.Is(err, sse.ErrTooLong) {
		// Where the next event begins is not known any more.
		l.recv.Broken(salvage.Peek{Object: true, Method: true}, nil, peer.TooLarge)
		return &peer.Failure{Reason: peer.TooLarge, Err: err}
	}
	return &peer.Failure{Reason: peer.StreamLost, Err: err}
}
