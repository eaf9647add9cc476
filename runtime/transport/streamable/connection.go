package streamable

import (
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// primeName is the event by which streams of revisions that choke on empty
// data give an id (P3); clients skip names that they do not know.
const primeName = "fairlead.prime"

// connection writes one event stream to one client.
type connection struct {
	*request
	handle string
	wire   mcp.Wire
	out    edge.Events
	// identified says that an event with an id has been buffered: the client
	// knows where to go on.
	identified bool
}

func (q *request) connect() *connection {
	return &connection{request: q, out: edge.Events{Answer: &q.Answer}}
}

// event buffers an event; id is a sequence number as text, or empty.
func (c *connection) event(id string, data []byte) {
	c.identified = c.identified || id != ""
	c.out.Buf = sse.AppendEvent(c.out.Buf, "", id, data)
}

// prime buffers an event that brings a fresh id and the time to come back
// after, should the connection end early, by whoever's hand (W9.5, SEP-1699).
func (c *connection) prime(seq uint64) {
	c.identified = true
	if c.wire.Retry {
		c.out.Buf = sse.AppendRetry(c.out.Buf, retryMS)
	}
	switch c.wire.Priming {
	case mcp.PrimeEmpty:
		c.out.Buf = sse.AppendEvent(c.out.Buf, "", c.id(seq), nil)
	case mcp.PrimeNamed:
		c.out.Buf = sse.AppendEvent(c.out.Buf, primeName, c.id(seq), []byte("{}"))
	}
}

func (c *connection) id(seq uint64) string {
	if c.handle == "" {
		return ""
	}
	return c.handle + "." + strconv.FormatUint(seq, 10)
}

// pump writes a stream until it ends or the client goes, and returns why. The
// head and whatever is buffered go out with the first write.
func (c *connection) pump(reader *stream.Reader, st *stream.Stream) error {
	if reader.Prime > 0 {
		c.prime(reader.Prime)
	}
	c.StreamHead()
	keepAlive := time.NewTimer(c.settings.KeepAlive)
	defer keepAlive.Stop()
	for first := true; ; first = false {
		events, end := reader.Take()
		for _, e := range events {
			c.event(c.id(e.Seq), e.Data)
		}
		if end != nil {
			c.last(end, st)
		}
		if len(c.out.Buf) > 0 || first {
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
			if c.out.Err != nil {
				return c.out.Err
			}
			keepAlive.Reset(c.settings.KeepAlive)
		case <-c.r.Context().Done():
			return c.r.Context().Err()
		}
	}
}

// last gives a client whose stream is closed on purpose a fresh id and the
// time to come back after (P3, P24).
func (c *connection) last(end error, st *stream.Stream) {
	if !errors.Is(end, errDrained) && !errors.Is(end, errPolling) && !errors.Is(end, session.ErrTooManyGets) && !errors.Is(end, auth.ErrExpired) {
		return
	}
	c.prime(st.Reserve())
}

// watch runs pump with its observations.
func (c *connection) watch(kind hook.StreamKind, reader *stream.Reader, st *stream.Stream) error {
	c.s.Observer.OpenStream(kind)
	end := c.pump(reader, st)
	reader.Close()
	c.s.Observer.CloseStream(kind, streamEnd(end))
	return end
}

func streamEnd(end error) hook.StreamEnd {
	switch {
	case errors.Is(end, io.EOF), errors.Is(end, dispatch.ErrCancelled), errors.Is(end, stream.ErrEnded):
		return hook.StreamDone
	case errors.Is(end, stream.ErrReplaced), errors.Is(end, session.ErrTooManyGets):
		return hook.StreamReplaced
	case errors.Is(end, stream.ErrOverflow):
		return hook.StreamOverflow
	case errors.Is(end, errPolling):
		return hook.StreamPolled
	case errors.Is(end, errDrained), errors.Is(end, auth.ErrExpired):
		return hook.StreamDrained
	}
	return hook.StreamGone
}

// follow streams an answer to its own connection.
func (a *answer) follow(st *stream.Stream) {
	reader, err := st.First()
	if err != nil {
		a.abandon() // dropped before the first byte
		return
	}
	c := a.connect()
	c.handle, c.wire = st.Handle(), a.wire
	if a.legacy != nil {
		a.legacy.Arrived()
	}
	a.pollEarly(st)
	kind := hook.StreamPost
	if a.method.Listening {
		kind = hook.StreamListen
		c.out.Buf = sse.AppendComment(c.out.Buf, "ok") // P4
	}
	end := c.watch(kind, reader, st)
	if a.wire.DisconnectCancels && !errors.Is(end, io.EOF) {
		a.running.Cancel(dispatch.ErrDisconnected)
	}
}
