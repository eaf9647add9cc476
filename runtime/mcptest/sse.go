package mcptest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/sse"
)

// HTTPSSE opens an event stream of HTTP+SSE at path and returns the client's
// end: what is said is POSTed to where the stream told, and what the stream
// says is heard. A POST that is refused with a JSON body is heard as that body;
// any other refusal is an error of saying it. CloseInput drops the stream.
func HTTPSSE(t testing.TB, web *Web, path string) *Raw {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	resp, err := web.get(ctx, path)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	events := &sse.Reader{R: resp.Body, MaxEvent: 64 << 20}
	first, err := events.Next()
	if err != nil || first.Name != "endpoint" {
		stop()
		t.Fatalf("the first event is %+v, %v", first, err)
	}
	base, _ := url.Parse(web.URL + path)
	endpoint, err := base.Parse(string(first.Data))
	if err != nil {
		stop()
		t.Fatal(err)
	}
	r := &Raw{t: t, heard: make(chan []byte, 64), done: make(chan struct{}), close: stop}
	over := make(chan struct{})
	hear := func(m []byte) {
		select {
		case r.heard <- m:
		case <-over:
		}
	}
	r.write = func(b []byte) error { return web.say(endpoint.String(), b, hear) }
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(r.done)
		defer close(r.heard)
		defer resp.Body.Close()
		for {
			ev, err := events.Next()
			if err != nil {
				return
			}
			if ev.Name != "message" {
				t.Errorf("an event is named %q", ev.Name)
			}
			hear(ev.Data)
		}
	})
	t.Cleanup(func() {
		close(over)
		stop()
		reading.Wait()
	})
	return r
}

// get opens an event stream.
func (w *Web) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := w.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return nil, fmt.Errorf("GET: %s: %s", resp.Status, body)
	}
	return resp, nil
}

// say posts each line.
func (w *Web) say(endpoint string, b []byte, hear func([]byte)) error {
	for line := range bytes.Lines(b) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		resp, err := w.Client.Post(endpoint, "application/json", bytes.NewReader(line))
		if err != nil {
			return err
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusAccepted:
		case resp.StatusCode == http.StatusBadRequest && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"):
			hear(body)
		default:
			return fmt.Errorf("POST: %s: %s", resp.Status, body)
		}
	}
	return nil
}
