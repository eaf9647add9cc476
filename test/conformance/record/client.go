package record

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Transport sends with next and writes down what the client sent, and what it
// was answered.
func Transport(next http.RoundTripper, log *Log) http.RoundTripper {
	return &transport{next: next, log: log}
}

type transport struct {
	next      http.RoundTripper
	log       *Log
	exchanges atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	line := Line{
		Exchange: t.exchanges.Add(1),
		From:     Ours,
		Session:  session(r),
		Version:  r.Header.Get(versionHeader),
	}
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if raw = bytes.TrimSpace(raw); len(raw) > 0 {
			t.log.add(line, raw)
		}
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	line.From, line.Status = Theirs, resp.StatusCode
	if id := resp.Header.Get(sessionHeader); id != "" {
		line.Session = id
	}
	body := &answerBody{ReadCloser: resp.Body, emit: func(raw []byte) { t.log.add(line, raw) }}
	kind := resp.Header.Get("Content-Type")
	body.other = !strings.HasPrefix(kind, "application/json")
	if strings.HasPrefix(kind, "text/event-stream") {
		body.events = &events{emit: body.emit, endpoint: func(at []byte) { line.Session = endpoint(r, at) }}
	}
	resp.Body = body
	return resp, nil
}

// answerBody writes down what the client reads.
type answerBody struct {
	io.ReadCloser
	emit  func([]byte)
	other bool // no JSON is meant: no message

	// A body may be closed while it is read.
	mu     sync.Mutex
	events *events
	whole  bytes.Buffer
	ended  bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.events != nil:
		b.events.write(p[:n])
	case !b.other && b.whole.Len() <= maxMessage:
		b.whole.Write(p[:n])
	}
	if err != nil {
		b.end()
	}
	return n, err
}

func (b *answerBody) Close() error {
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

func (b *answerBody) end() {
	if b.ended {
		return
	}
	b.ended = true
	if raw := bytes.TrimSpace(b.whole.Bytes()); len(raw) > 0 {
		b.emit(raw)
	}
}

// CloseIdleConnections does what http.Client's asks of a transport.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
