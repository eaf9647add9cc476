package soak

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tap is a transport whose every byte goes through a ledger, and whose
// connections can be cut. It has connections of its own.
type tap struct {
	ledger *ledger
	next   *http.Transport
	// replied is told how an answer to the server was taken, "" for well.
	replied func(failure string)
	// unheard counts those that were not.
	unheard atomic.Int64

	mu   sync.Mutex
	live map[*tapped]struct{}
}

// idleTime closes connections that became idle after close.
const idleTime = 3 * time.Second

// newTap makes a tap that connects from an address of loopback, which is all
// that tells clients without names apart.
func newTap(l *ledger, from string) *tap {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &tap{
		ledger: l,
		next:   &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 8, IdleConnTimeout: idleTime, DisableCompression: true},
		live:   map[*tapped]struct{}{},
	}
}

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := false
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		t.ledger.sent(raw)
		reply = isReply(raw)
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(raw))
	}
	ctx, cut := context.WithCancel(r.Context())
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	if reply {
		t.taken(resp, err)
	}
	if err != nil {
		cut()
		return nil, err
	}
	for _, values := range resp.Header {
		t.ledger.got([]byte(strings.Join(values, " ")))
	}
	b := &tapped{ReadCloser: resp.Body, tap: t, cutOff: cut, events: strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")}
	t.mu.Lock()
	t.live[b] = struct{}{}
	t.mu.Unlock()
	resp.Body = b
	return resp, nil
}

// taken notes what became of an answer to the server. Nobody sends it again, so
// whoever asked may wait for as long as it likes.
func (t *tap) taken(resp *http.Response, err error) {
	failure := ""
	switch {
	case err != nil:
		failure = err.Error()
	case resp.StatusCode > 299:
		failure = resp.Status
	}
	if failure != "" {
		t.unheard.Add(1)
	}
	if t.replied != nil {
		t.replied(failure)
	}
}

// cut breaks one of the responses that are coming, if there is one.
func (t *tap) cut(r *rand.Rand) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.live) == 0 {
		return false
	}
	n := r.IntN(len(t.live))
	for b := range t.live {
		if n--; n < 0 {
			b.broken.Store(true)
			b.cutOff()
			break
		}
	}
	return true
}

func (t *tap) close() { t.next.CloseIdleConnections() }

// tapped is one response's body.
type tapped struct {
	io.ReadCloser
	tap    *tap
	cutOff context.CancelFunc
	broken atomic.Bool // by cut
	events bool

	// A body may be closed while it is read.
	mu    sync.Mutex
	done  bool
	text  []byte // what has not been looked at: a line, or all of a JSON body
	event string // id of the event that is being read
	data  []byte
	named bool // the event has a name: of HTTP+SSE, its endpoint
}

func (b *tapped) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(p[:n])
	if err == nil {
		return n, nil
	}
	b.finish(err == io.EOF)
	if b.broken.Load() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *tapped) Close() error {
	b.cutOff()
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish(false)
	return err
}

// finish looks at the rest.
func (b *tapped) finish(whole bool) {
	if b.done {
		return
	}
	b.done = true
	b.tap.mu.Lock()
	delete(b.tap.live, b)
	b.tap.mu.Unlock()
	b.tap.ledger.got(b.text)
	if !b.events && whole && len(bytes.TrimSpace(b.text)) > 0 && b.text[0] == '{' {
		b.tap.ledger.message("", b.text)
	}
}

func (b *tapped) take(p []byte) {
	if b.done {
		return
	}
	b.text = append(b.text, p...)
	for b.events {
		end := bytes.IndexByte(b.text, '\n')
		if end < 0 {
			return
		}
		b.tap.ledger.got(b.text[:end])
		b.field(bytes.TrimSuffix(b.text[:end], []byte("\r")))
		b.text = b.text[end+1:]
	}
}

func (b *tapped) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case len(line) == 0:
		if len(b.data) > 0 && !b.named {
			b.tap.ledger.message(b.event, b.data)
		}
		b.event, b.data, b.named = "", nil, false
	case string(name) == "id":
		b.event = string(value)
	case string(name) == "event":
		b.named = string(value) != "message"
	case string(name) == "data":
		b.data = append(b.data, value...)
	}
}
