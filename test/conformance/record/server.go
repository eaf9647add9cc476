package record

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Header fields that say what a message belongs to.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "MCP-Protocol-Version"
)

// Handler serves with next and writes down each request's messages and those of
// its answer, JSON or event stream. Put it around an MCP endpoint, or around a
// reverse proxy of one.
func Handler(next http.Handler, log *Log) http.Handler {
	var exchanges atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tap{log: log, context: Line{
			Exchange: exchanges.Add(1),
			Session:  session(r),
			Version:  r.Header.Get(versionHeader),
		}}
		body := &tapBody{ReadCloser: r.Body, tap: t}
		r.Body = body
		answer := &tapWriter{ResponseWriter: w, tap: t, endpoint: func(at []byte) { t.context.Session = endpoint(r, at) }}
		// A handler that gives up panics; what it had sent counts.
		defer answer.end()
		next.ServeHTTP(answer, r)
	})
}

// tap is the record of one HTTP exchange. The body may be read while the answer
// is written.
type tap struct {
	log     *Log
	mu      sync.Mutex
	context Line
	body    bytes.Buffer
	asked   bool
	cut     bool // the body ended too soon: whoever sent it has gone
}

// request writes the request down, once, as far as it was read: an answer must
// never be recorded before its question.
func (t *tap) request() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked {
		return
	}
	t.asked = true
	if raw := bytes.TrimSpace(t.body.Bytes()); len(raw) > 0 && !t.cut {
		line := t.context
		line.From = Theirs
		t.log.add(line, raw)
	}
}

type tapBody struct {
	io.ReadCloser
	tap *tap
}

func (b *tapBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.tap.mu.Lock()
	defer b.tap.mu.Unlock()
	if b.tap.body.Len() <= maxMessage {
		b.tap.body.Write(p[:n])
	}
	b.tap.cut = err != nil && !errors.Is(err, io.EOF)
	return n, err
}

type tapWriter struct {
	http.ResponseWriter
	tap      *tap
	endpoint func([]byte)
	status   int
	events   *events
	whole    bytes.Buffer
}

// Unwrap lets http.ResponseController reach the real writer.
func (w *tapWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *tapWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *tapWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	// Before it is sent, so that a peer's reaction is recorded after it.
	switch {
	case w.events != nil:
		w.events.write(p)
	case w.whole.Len() <= maxMessage:
		w.whole.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

func (w *tapWriter) begin(status int) {
	w.status = status
	w.tap.request()
	if id := w.Header().Get(sessionHeader); id != "" {
		w.tap.context.Session = id
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		w.events = &events{emit: func(data []byte) { w.answer(data) }, endpoint: w.endpoint}
	}
}

func (w *tapWriter) end() {
	w.tap.request()
	if w.events != nil || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		return
	}
	if raw := bytes.TrimSpace(w.whole.Bytes()); len(raw) > 0 {
		w.answer(raw)
	}
}

func (w *tapWriter) answer(raw []byte) {
	line := w.tap.context
	line.From, line.Status = Ours, w.status
	w.tap.log.add(line, raw)
}
