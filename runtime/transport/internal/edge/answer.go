package edge

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Answer writes the answer to one request, each write within WriteTimeout:
// answers live as long as each write is taken in time (P33.10). It is used by
// the goroutine of the request only. End must be called. What is written last
// leaves when the handler has returned, within the same time; then net/http
// takes the deadline off the connection.
type Answer struct {
	W            http.ResponseWriter
	WriteTimeout time.Duration
	// Draining: connections end with the answer that is on its way.
	Draining *atomic.Bool

	streams bool // StreamHead was written
	left    bool // see Leave
}

// FinishHead adds what every answer carries and bounds its first write. Call it
// last before W.WriteHeader.
func (a *Answer) FinishHead() {
	a.renew()
	if a.Draining.Load() {
		a.W.Header().Set("Connection", "close")
	}
}

func (a *Answer) control() *http.ResponseController { return http.NewResponseController(a.W) }

// renew moves the deadline of the connection for the next write.
func (a *Answer) renew() { _ = a.control().SetWriteDeadline(time.Now().Add(a.WriteTimeout)) }

// End gives the end of an event stream its time to be written.
func (a *Answer) End() {
	if a.streams && !a.left {
		a.renew()
	}
}

// Leave ends an answer of HTTP/1 that has been flushed, and its connection,
// before its handler returns; nothing more may be written. chunked says that an
// event stream has an end that has to be written (RFC 9112, 7.1).
func (a *Answer) Leave(chunked bool) {
	a.renew()
	conn, _, err := a.control().Hijack()
	if err != nil {
		return
	}
	a.left = true
	if chunked && a.streams {
		_, _ = io.WriteString(conn, "0\r\n\r\n") // a client that has gone misses nothing
	}
	_ = conn.Close()
}

// measured is the largest body whose length net/http tells by itself.
const measured = 2 << 10

// onlyJSON is the value of Content-Type; nobody writes to it.
var onlyJSON = []string{typeJSON}

// JSON writes a whole answer.
func (a *Answer) JSON(status int, body []byte) {
	h := a.W.Header()
	h["Content-Type"] = onlyJSON
	if len(body) > measured {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	a.FinishHead()
	a.W.WriteHeader(status)
	_, _ = a.W.Write(body) // a client that has gone misses nothing more
}

// Accepted answers what gets no message in return.
func (a *Answer) Accepted() {
	a.FinishHead()
	a.W.WriteHeader(http.StatusAccepted)
}

// NoContent answers what has been done.
func (a *Answer) NoContent() {
	a.FinishHead()
	a.W.WriteHeader(http.StatusNoContent)
}

// Refuse writes a Denial, about the request with the given id.
func (a *Answer) Refuse(d *Denial, id jsonrpc.ID) {
	h := a.W.Header()
	for _, field := range d.Header {
		h.Set(field[0], field[1])
	}
	if d.Close {
		h.Set("Connection", "close")
	}
	a.JSON(d.Status, jsonrpc.EncodeError(id, &jsonrpc.Error{Code: d.Code, Message: d.Text, Data: d.Data}))
}

// StreamHead writes the head of an event stream, in every revision (R18).
func (a *Answer) StreamHead() {
	h := a.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	a.streams = true
	a.FinishHead()
	a.W.WriteHeader(http.StatusOK)
}

// Events are the bytes of an event stream on their way out.
type Events struct {
	*Answer
	// Buf is what the next Flush writes.
	Buf []byte
	// Err is why nothing more can be written.
	Err error
}

// maxKept is the largest buffer that Events keep.
const maxKept = 64 << 10

// Flush writes what is buffered, in time, through to the network.
func (e *Events) Flush() {
	if e.Err != nil {
		return
	}
	e.renew()
	if _, e.Err = e.W.Write(e.Buf); e.Err == nil {
		e.Err = e.control().Flush()
	}
	e.Buf = e.Buf[:0]
	if cap(e.Buf) > maxKept {
		e.Buf = nil
	}
}
