package streamable

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// get opens a standalone stream, or resumes exactly one stream (P2). Without a
// session there is nothing to listen to (C14, C22).
func (q *request) get() *refusal {
	if q.sessionless() {
		return methodNotAllowed("POST")
	}
	if !accept(q.r.Header).stream {
		return invalid(http.StatusNotAcceptable, hook.RejectAccept, "accept text/event-stream")
	}
	l, refusal := q.session(jsonrpc.ID{})
	if refusal != nil {
		return refusal
	}
	if !l.Enter() {
		return sessionUnknown(jsonrpc.ID{})
	}
	defer l.Leave()
	handle, seq, ok := q.lastEvent(l)
	if !ok {
		return q.standalone(l, nil, 0)
	}
	st, _ := l.Lookup(handle.token)
	if handle.Standalone {
		if st == nil {
			return q.standalone(l, nil, 0, q.missed(handle.token, seq)...)
		}
		return q.standalone(l, st, seq)
	}
	return q.resume(l, handle, st, seq)
}

// sessionless reports whether a request is about no session: it names none, or
// there are none to name (W14.14).
func (q *request) sessionless() bool {
	if q.field(headerSession) == "" {
		return true
	}
	if len(q.settings.Revisions.Legacy()) > 0 {
		return false
	}
	_, ok := q.lookup()
	return !ok
}

type lastEvent struct {
	seal.Stream
	token string
}

// lastEvent reads Last-Event-ID. What does not open on this session counts as
// absent: a 404 here would end the session (P2).
func (q *request) lastEvent(l *dispatch.Legacy) (lastEvent, uint64, bool) {
	value := q.field(headerLastEvent)
	if value == "" {
		return lastEvent{}, 0, false
	}
	at := strings.LastIndexByte(value, '.')
	if at > 0 {
		seq, err := strconv.ParseUint(value[at+1:], 10, 64)
		handle, sealErr := q.s.Keys.OpenStream(value[:at], sessionRandom(l))
		if err == nil && sealErr == nil {
			return lastEvent{handle, value[:at]}, seq, true
		}
	}
	q.s.Observer.Replay(hook.ReplayUnknown)
	return lastEvent{}, 0, false
}

// sessionRandom is the identity of a session inside stream handles.
func sessionRandom(l *dispatch.Legacy) (r seal.Random) {
	_, _ = hex.Decode(r[:], []byte(l.Key()))
	return r
}

// standalone serves a stream of unsolicited messages. from is the one that the
// client comes back for, nil if it is not there any more; missed is what
// followed on one of another process.
func (q *request) standalone(l *dispatch.Legacy, from *stream.Stream, after uint64, missed ...[]byte) *refusal {
	st, err := l.OpenStandalone(q.s.streamHandle(l, "", true), from, after, missed...)
	if err != nil {
		if errors.Is(err, stream.ErrFull) {
			return unavailable(hook.RejectStreamLimit, "too many streams")
		}
		return sessionUnknown(jsonrpc.ID{})
	}
	defer l.CloseStandalone(st)
	if from != nil || len(missed) > 0 {
		q.s.Observer.Replay(hook.ReplayResumed)
	}
	reader, err := st.First()
	if err != nil {
		return sessionUnknown(jsonrpc.ID{})
	}
	c := q.connect()
	c.handle, c.wire = st.Handle(), l.Profile().On(mcp.Streamable)
	if !broken.Rule("P4") {
		c.out.Buf = sse.AppendComment(c.out.Buf, "ok") // P4: the head goes out at once
	}
	l.Ready()
	l.Arrived()
	q.s.watchDrain(st)
	ctx, stop := auth.UntilExpiry(q.r.Context(), q.identity)
	defer stop()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), auth.ErrExpired) {
			st.Release(auth.ErrExpired) // B15.9
		}
	})()
	_ = c.watch(hook.StreamGet, reader, st)
	return nil
}

// lastWord is the sequence number of an answer that stands for a stream which
// is no longer there.
const lastWord = math.MaxUint64

// resume continues the stream of a request. When that cannot be done the
// request gets its error, so that its caller stops waiting (P2).
//
// A client that has the whole stream and asks for more gets a 405, the other
// answer that the protocol has for a GET. The TypeScript SDK up to 1.32 does so
// after every error response, for ever, and would in the end hold a standalone
// stream for each; a 405 is what it takes for a no.
func (q *request) resume(l *dispatch.Legacy, handle lastEvent, st *stream.Stream, after uint64) *refusal {
	c := q.connect()
	c.handle, c.wire = handle.token, l.Profile().On(mcp.Streamable)
	c.out.Buf = sse.AppendComment(c.out.Buf, "ok")
	if st != nil {
		reader, err := st.Attach(after)
		if err == nil {
			q.s.Observer.Replay(hook.ReplayResumed)
			l.Arrived()
			if end := c.watch(hook.StreamPost, reader, st); errors.Is(end, stream.ErrEnded) && !c.identified {
				c.lost(handle) // pushed out as it was taken up
			}
			return nil
		}
		if errors.Is(err, stream.ErrComplete) {
			return methodNotAllowed("POST")
		}
	}
	if after == lastWord {
		return methodNotAllowed("POST")
	}
	c.StreamHead()
	if c.replay(handle, after) {
		q.s.Observer.Replay(hook.ReplayResumed)
		c.out.Flush()
		return nil
	}
	c.lost(handle)
	return nil
}

// lost ends a stream that cannot be resumed. It must not end without an id: the
// TypeScript SDK then comes back without one, for a standalone stream.
func (c *connection) lost(handle lastEvent) {
	c.s.Observer.Replay(hook.ReplayLost)
	if handle.Request != "" && !broken.Rule("P2") {
		lost := jsonrpc.Errorf(jsonrpc.CodeInternal, "the stream of this request is lost").WithReason(mcp.ReasonStreamLost)
		c.event(c.id(lastWord), jsonrpc.EncodeError(jsonrpc.RawID(handle.Request), lost))
	}
	c.out.Flush()
}

// delete ends a session (B15.6).
func (q *request) delete() *refusal {
	if q.sessionless() {
		return methodNotAllowed("POST")
	}
	l, refusal := q.session(jsonrpc.ID{})
	if refusal != nil {
		return refusal
	}
	l.End(hook.EndDeleted, dispatch.ErrCancelled)
	q.NoContent()
	return nil
}
