package httpleg

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// exchange makes one request and delivers what comes back until its answer.
func (l *Leg) exchange(ctx context.Context, out *peer.Outgoing) error {
	resp, err := l.do(ctx, http.MethodPost, out, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return l.refused(ctx, out, resp)
	}
	if out.Method == mcp.MethodInitialize {
		l.began(resp.Header.Get(headerSession))
	}
	var what form
	var r io.Reader
	whole, err := entire(resp, l.cfg.MaxMessageBytes)
	if whole != nil {
		what, whole = sniffBytes(whole)
	} else if err == nil {
		what, r, err = begun(resp)
	}
	if err != nil {
		discard(resp)
		return cut(ctx, err)
	}
	if what == formStream {
		if r == nil {
			r = bytes.NewReader(whole)
		}
		return l.stream(ctx, out, resp, r)
	}
	if r != nil {
		defer discard(resp)
	}
	switch {
	case what == formEmpty:
		return &peer.Failure{Reason: peer.BadResponse, Status: resp.StatusCode, Err: errors.New("the body is empty")}
	case what != formJSON:
		return &peer.Failure{Reason: peer.BadResponse, Status: resp.StatusCode, Err: errors.New("the body is neither JSON nor an event stream")}
	case r != nil:
		// A server that ends right after its answer has answered, also where the
		// end of the body is missing (B3.8).
		if whole, err = readAll(r, l.cfg.MaxMessageBytes); err != nil && !answers(whole, out.ID) {
			return cut(ctx, err)
		}
	}
	if !out.Deliver(whole) { // JSON, whatever its content type said
		return &peer.Failure{Reason: peer.BadResponse, Err: errors.New("the body does not answer the request")}
	}
	return nil
}

// cut is the error of a body that could not be read: that of ctx if it ended.
func cut(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// say posts a notification or a response. Any 2xx means that it was taken.
func (l *Leg) say(ctx context.Context, out *peer.Outgoing) error {
	resp, err := l.do(ctx, http.MethodPost, out, nil)
	if err != nil {
		return err
	}
	defer discard(resp)
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	if resp.StatusCode == http.StatusNotFound && out.Revision == "" && l.SessionID() != "" && l.look(ctx) {
		l.setGone()
		return &peer.Failure{Reason: peer.SessionGone, Status: resp.StatusCode, NotDelivered: true}
	}
	return refusal(resp, nil)
}

// began takes the session id of an InitializeResult. An id outside visible
// ASCII could not be sent back (W10.3) and counts as none.
func (l *Leg) began(session string) {
	for i := range len(session) {
		if session[i] < 0x21 || session[i] > 0x7e {
			session = ""
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = session
}

// delete ends the session at the server; 405 and all else is tolerated
// (W10.9).
func (l *Leg) delete() {
	ctx, stop := context.WithTimeout(context.Background(), deleteTimeout)
	defer stop()
	if resp, err := l.do(ctx, http.MethodDelete, nil, nil); err == nil {
		discard(resp)
	}
}
