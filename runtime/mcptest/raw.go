package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
)

// Patience bounds each wait of this package.
const Patience = 30 * time.Second

// Raw is a scripted peer at one end of a connection: it says lines and looks at
// the lines that come back. Its methods end the test when something is not as
// expected; they are for the test's own goroutine.
type Raw struct {
	t     testing.TB
	write func(b []byte) error
	close func()      // the way to the other end
	heard chan []byte // closed at the end
	once  sync.Once
	done  chan struct{} // whoever serves the other end has returned
	err   error
}

// newRaw makes a peer that writes to out and reads lines from in.
func newRaw(t testing.TB, out io.WriteCloser, in io.ReadCloser) *Raw {
	r := &Raw{t: t, heard: make(chan []byte, 64), done: make(chan struct{})}
	r.write = func(b []byte) error { _, err := out.Write(b); return err }
	r.close = func() { _ = out.Close() }
	stop := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(r.heard)
		lines := ndjson.NewReader(in, 64<<20)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			select {
			case r.heard <- line.Data:
			case <-stop:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		_ = out.Close()
		_ = in.Close()
		reading.Wait()
	})
	return r
}

// Say writes lines, each with its line end.
func (r *Raw) Say(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		if err := r.write([]byte(line + "\n")); err != nil {
			r.t.Fatalf("saying %.200s: %v", line, err)
		}
	}
}

// Write writes bytes as they are.
func (r *Raw) Write(b []byte) error { return r.write(b) }

// Hear returns the next message.
func (r *Raw) Hear() []byte {
	r.t.Helper()
	select {
	case m, ok := <-r.heard:
		if !ok {
			r.t.Fatal("the other end has closed")
		}
		return m
	case <-time.After(Patience):
		r.t.Fatal("nothing came")
	}
	return nil
}

// Expect hears as many messages as are wanted and compares them as JSON, in
// order.
func (r *Raw) Expect(want ...string) {
	r.t.Helper()
	for _, w := range want {
		r.same(w, r.Hear())
	}
}

// ExpectAll is Expect in any order.
func (r *Raw) ExpectAll(want ...string) {
	r.t.Helper()
	left := map[string]int{}
	for _, w := range want {
		left[Canonical(r.t, []byte(w))]++
	}
	for range want {
		got := r.Hear()
		text := Canonical(r.t, got)
		if left[text] == 0 {
			r.t.Fatalf("unexpected: %s", got)
		}
		left[text]--
	}
}

// Silent fails if anything comes within d, or the other end closes.
func (r *Raw) Silent(d time.Duration) {
	r.t.Helper()
	select {
	case m, ok := <-r.heard:
		if !ok {
			r.t.Fatal("the other end has closed")
		}
		r.t.Fatalf("heard %s", m)
	case <-time.After(d):
	}
}

func (r *Raw) same(want string, got []byte) {
	r.t.Helper()
	if w, g := Canonical(r.t, []byte(want)), Canonical(r.t, got); w != g {
		r.t.Fatalf("want %s\n got %s", w, g)
	}
}

// CloseInput says that nothing more comes; what does can still be heard.
func (r *Raw) CloseInput() { r.once.Do(r.close) }

// Wait waits for the end of whoever serves the other end, or of its stream, and
// returns its error.
// What comes meanwhile is heard and dropped.
func (r *Raw) Wait() error {
	r.t.Helper()
	return r.WaitWithin(Patience)
}

// WaitWithin is Wait with a patience of its own.
func (r *Raw) WaitWithin(d time.Duration) error {
	r.t.Helper()
	late := time.After(d)
	heard := r.heard
	for {
		select {
		case <-r.done:
			return r.err
		case _, ok := <-heard:
			if !ok {
				heard = nil
			}
		case <-late:
			r.t.Fatal("the other end goes on")
		}
	}
}

// Canonical is a JSON text with sorted members and without blanks; numbers keep
// their spelling.
func Canonical(t testing.TB, raw []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v: %.300s", err, raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Modern makes the params of a 2026-07-28 request: members, which may be empty,
// beside the envelope that each such request carries.
func Modern(members string) string {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	if members == "" {
		return "{" + meta + "}"
	}
	return "{" + members + "," + meta + "}"
}

// Initialize makes the request that opens a session.
func Initialize(id int, revision, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, id, revision, capabilities)
}
