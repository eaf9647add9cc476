package httpleg

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// refused deals with a status that is no success. A JSON-RPC message with our
// id in the body is the answer and wins over the status (R10, C33), unless it
// says that the session is unknown and a look confirms that.
func (l *Leg) refused(ctx context.Context, out *peer.Outgoing, resp *http.Response) error {
	defer discard(resp)
	var raw []byte
	if body, err := decoded(resp); err == nil {
		raw, _ = readAll(body, l.cfg.MaxMessageBytes)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	ours := answers(raw, out.ID)
	if (!ours || ofSession(raw)) && l.mayBeGone(out, resp.StatusCode, raw) && l.look(ctx) {
		l.setGone()
		return &peer.Failure{Reason: peer.SessionGone, Status: resp.StatusCode, NotDelivered: true}
	}
	if ours && out.Deliver(raw) {
		return nil
	}
	return refusal(resp, raw)
}

// ofSession reports whether raw is an error that speaks of the session.
func ofSession(raw []byte) bool {
	m, err := jsonrpc.Parse(raw, strictjson.FromWorkload)
	return err == nil && m.Err != nil && strings.Contains(strings.ToLower(m.Err.Message), "session")
}

// refusal is statusFailure with what the head says about coming again.
func refusal(resp *http.Response, body []byte) *peer.Failure {
	f := statusFailure(resp.StatusCode, body)
	f.RetryAfter = retryAfter(resp.Header)
	return f
}

// retryAfter reads Retry-After, in seconds or as a date; 0 when there is none.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

func answers(raw []byte, id int64) bool {
	m, err := jsonrpc.Parse(raw, strictjson.FromWorkload)
	if err != nil || m.Kind != jsonrpc.KindResponse {
		return false
	}
	text := strconv.FormatInt(id, 10)
	return m.ID.String() == text || m.ID.String() == `"`+text+`"`
}

// mayBeGone: 404, or 400 whose text speaks of the session (R10).
func (l *Leg) mayBeGone(out *peer.Outgoing, status int, body []byte) bool {
	if l.SessionID() == "" || out.Revision != "" || out.Method == mcp.MethodInitialize {
		return false
	}
	return status == http.StatusNotFound ||
		status == http.StatusBadRequest && bytes.Contains(bytes.ToLower(body), []byte("session"))
}

// look asks once more with a ping, so that a plain bad request restarts no
// session; true means that the session is gone.
func (l *Leg) look(ctx context.Context) bool {
	// A string: never an id of the peer's; and never one that was used (W1.3).
	id := jsonrpc.RawID(`"look-` + strconv.FormatInt(l.looks.Add(1), 10) + `"`)
	resp, err := l.do(ctx, http.MethodPost, &peer.Outgoing{
		Raw:    jsonrpc.EncodeRequest(id, mcp.MethodPing, nil),
		Kind:   jsonrpc.KindRequest,
		Method: mcp.MethodPing,
	}, nil)
	if err != nil {
		return false
	}
	defer discard(resp)
	return resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest
}

// statusFailure classes a status without an answer in the body.
func statusFailure(status int, body []byte) *peer.Failure {
	f := &peer.Failure{Reason: peer.Status, Status: status}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Reason = peer.Auth
	case http.StatusMisdirectedRequest:
		f.Reason = peer.HostRefused
	}
	if m, err := jsonrpc.Parse(body, strictjson.FromWorkload); err == nil && m.Err != nil {
		f.Err = m.Err
	} else if len(body) > 0 {
		f.Err = errors.New("the body is no answer to the request")
	}
	return f
}
