package httpsse

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/duplex"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// Causes with which streams end.
var (
	errDrained = errors.New("the server is going away")
	errSilent  = errors.New("no initialize came")
)

// connection is one GET: a stream, and the conversation on it.
type connection struct {
	*request
	key       string
	principal string
	bucket    string // whose connections are counted together (P22)
	st        *stream.Stream
	talk      *duplex.Conn
	out       edge.Events
}

// get opens a stream and serves it until it ends.
func (q *request) get() *edge.Denial {
	if !edge.Accept(q.r.Header).Stream {
		return invalid(http.StatusNotAcceptable, hook.RejectAccept, "accept text/event-stream")
	}
	if q.s.draining.Load() {
		return unavailable(hook.RejectDraining, "shutting down")
	}
	random := seal.NewRandom()
	token, err := q.s.Keys.SealSession(seal.Session{Kind: seal.KindStateful, Pod: q.s.Pod, Epoch: q.s.Epoch, Random: random}, q.identity.Name())
	if err != nil {
		return unavailable(hook.RejectSession, "no key for session ids")
	}
	c := &connection{request: q, key: hex.EncodeToString(random[:]), principal: q.identity.Name(), bucket: edge.Bucket(q.identity, q.r, q.s.Client), out: edge.Events{Answer: &q.Answer}}
	if c.st, err = q.s.streams.New("", nil); err != nil {
		return unavailable(hook.RejectStreamLimit, "too many streams")
	}
	defer c.st.Drop()
	reader, err := c.st.Attach(0)
	if err != nil {
		return unavailable(hook.RejectStreamLimit, "too many streams")
	}
	c.talk = duplex.New(duplex.Config{
		Dispatcher: q.s.dispatcher, Sessions: q.s.sessions, Wire: (*wire)(c), Identity: q.identity,
		Caller: dispatch.Bucket(c.bucket), Key: c.key, SessionEnded: func(cause error) { go c.end(cause) }, Observer: q.s.Observer,
	})
	defer c.talk.Close(hook.EndGone, dispatch.ErrDisconnected)
	if !q.s.table.add(c, q.settings.MaxConnections, q.settings.MaxConnectionsPerPrincipal) {
		return unavailable(hook.RejectSessionLimit, "too many connections")
	}
	defer q.s.Keys.ForgetSession(random)
	defer q.s.table.remove(c)
	if q.s.draining.Load() {
		c.leaveSoon(0) // Drain was looking for connections at this moment
	}
	q.s.Observer.OpenStream(hook.StreamGet)
	end := c.pump(reader, token)
	reader.Close()
	q.s.Observer.CloseStream(hook.StreamGet, streamEnd(end))
	return nil
}

// endpoint is where the client has to POST (W13.2).
func (c *connection) endpoint(token string) []byte {
	return []byte(c.s.Endpoint + "?" + querySession + "=" + url.QueryEscape(token))
}

// pump writes the stream until it ends or the client goes, and returns why.
func (c *connection) pump(reader *stream.Reader, token string) error {
	c.StreamHead()
	c.out.Buf = sse.AppendEvent(c.out.Buf, "endpoint", "", c.endpoint(token))
	c.out.Flush()

	ctx, stop := auth.UntilExpiry(c.r.Context(), c.identity)
	defer stop()
	keepAlive := time.NewTimer(c.settings.KeepAlive)
	defer keepAlive.Stop()
	handshake := time.NewTimer(c.settings.Handshake)
	defer handshake.Stop()
	for c.out.Err == nil {
		events, end := reader.Take()
		for _, e := range events {
			c.out.Buf = sse.AppendEvent(c.out.Buf, "message", "", e.Data)
		}
		if len(c.out.Buf) > 0 {
			c.out.Flush()
			keepAlive.Reset(c.settings.KeepAlive)
		}
		switch {
		case c.out.Err != nil:
			return c.out.Err
		case end != nil:
			return end
		}
		select {
		case <-reader.Ready():
		case <-keepAlive.C:
			c.out.Buf = sse.AppendComment(c.out.Buf, "keep-alive")
			c.out.Flush()
			keepAlive.Reset(c.settings.KeepAlive)
		case <-handshake.C:
			if c.talk.Session() == nil {
				return errSilent // R20
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return c.out.Err
}

func streamEnd(end error) hook.StreamEnd {
	switch {
	case errors.Is(end, io.EOF), errors.Is(end, session.ErrIdle), errors.Is(end, session.ErrHandshake), errors.Is(end, errSilent):
		return hook.StreamDone
	case errors.Is(end, stream.ErrOverflow):
		return hook.StreamOverflow
	case errors.Is(end, errDrained), errors.Is(end, dispatch.ErrShutdown), errors.Is(end, auth.ErrExpired):
		return hook.StreamDrained
	}
	return hook.StreamGone
}

// wire is the way to the client: the outbox of its stream, which never waits
// but for a producer that says so, and ends when it is full (P18).
type wire connection

var _ duplex.Wire = (*wire)(nil)

// Send implements duplex.Wire.
func (w *wire) Send(raw []byte) error { return w.st.Send(strictjson.OneLine(raw)) }

// SendWait implements duplex.Wire.
func (w *wire) SendWait(ctx context.Context, raw []byte) error {
	return w.st.SendWait(ctx, strictjson.OneLine(raw))
}

// Push implements duplex.Wire.
func (w *wire) Push(raw []byte) error { return w.Send(raw) }
