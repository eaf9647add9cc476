package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// recorded runs work with a log and returns what it wrote, as short text.
func recorded(t *testing.T, work func(*Log)) []string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	log, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	work(log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	lines, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range lines {
		out = append(out, fmt.Sprintf("%d %s %s %s %d %s%s", l.Exchange, l.From, l.Session, l.Version, l.Status, l.Message, l.Broken))
	}
	return out
}

// answers is a server that echoes JSON, streams to GET, and accepts the rest.
func answers(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Mcp-Session-Id", "s1")
	switch {
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for _, piece := range []string{": ok\n\nid: 1\nda", "ta:\n\nid: 2\ndata: {\"a\":\n", "data: 1}\r\n\r\nevent: other\ndata: {}\n\n", "data:{\"b\":2}\n\ndata: {\"cut"} {
			_, _ = io.WriteString(w, piece)
			_ = rc.Flush()
		}
	case bytes.Contains(body, []byte("id")):
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func TestServerIsRecordedWhatever(t *testing.T) {
	got := recorded(t, func(log *Log) {
		s := httptest.NewServer(Handler(http.HandlerFunc(answers), log))
		defer s.Close()
		send(t, s.Client(), http.MethodPost, s.URL, `{"id":1}`)
		send(t, s.Client(), http.MethodPost, s.URL, `{"n":1}`)
		send(t, s.Client(), http.MethodPost, s.URL, `{"id":`)
		send(t, s.Client(), http.MethodGet, s.URL, "")
	})
	want := []string{
		`1 theirs  v 0 {"id":1}`,
		`1 ours s1 v 200 {"id":1}`,
		`2 theirs  v 0 {"n":1}`,
		`3 theirs  v 0 {"id":`,
		`3 ours s1 v 200 {"id":`,
		`4 ours s1 v 200 {"a":1}`,
		`4 ours s1 v 200 {"b":2}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got)\n%s", diff)
	}
}

func TestClientIsRecordedWhatever(t *testing.T) {
	got := recorded(t, func(log *Log) {
		s := httptest.NewServer(http.HandlerFunc(answers))
		defer s.Close()
		c := &http.Client{Transport: Transport(s.Client().Transport, log)}
		send(t, c, http.MethodPost, s.URL, `{"id":1}`)
		send(t, c, http.MethodPost, s.URL, `{"n":1}`)
		send(t, c, http.MethodGet, s.URL, "")
	})
	want := []string{
		`1 ours  v 0 {"id":1}`,
		`1 theirs s1 v 200 {"id":1}`,
		`2 ours  v 0 {"n":1}`,
		`3 theirs s1 v 200 {"a":1}`,
		`3 theirs s1 v 200 {"b":2}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got)\n%s", diff)
	}
}

func TestPipesAreRecordedLineByLine(t *testing.T) {
	got := recorded(t, func(log *Log) {
		var out bytes.Buffer
		w := Writer(&out, Ours, log)
		for _, piece := range []string{`{"a"`, ":1}\n\n{", "}\r\n", `{"cut`} {
			if _, err := io.WriteString(w, piece); err != nil {
				t.Fatal(err)
			}
		}
		if want := "{\"a\":1}\n\n{}\r\n{\"cut"; out.String() != want {
			t.Errorf("passed on %q", out.String())
		}
		if _, err := io.ReadAll(Reader(strings.NewReader("garbage\n{\"b\":2}\n"), Theirs, log)); err != nil {
			t.Fatal(err)
		}
	})
	want := []string{`0 ours   0 {"a":1}`, `0 ours   0 {}`, `0 theirs   0 garbage`, `0 theirs   0 {"b":2}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got)\n%s", diff)
	}
}

func send(t *testing.T, c *http.Client, method, url, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Protocol-Version", "v")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
}

// Over HTTP+SSE the address of the POSTs is the session, on both sides.
func TestAnOlderSessionIsWhereItIsPosted(t *testing.T) {
	older := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: /post?s=1\n\nevent: message\ndata: {\"id\":1}\n\n")
	}
	var server []string
	client := recorded(t, func(mine *Log) {
		server = recorded(t, func(log *Log) {
			s := httptest.NewServer(Handler(http.HandlerFunc(older), log))
			defer s.Close()
			c := &http.Client{Transport: Transport(s.Client().Transport, mine)}
			send(t, c, http.MethodGet, s.URL+"/sse?key=k", "")
			send(t, c, http.MethodPost, s.URL+"/post?s=1", `{"id":1,"method":"m"}`)
		})
	})
	want := []string{`1 ours /post?s=1 v 200 {"id":1}`, `2 theirs /post?s=1 v 0 {"id":1,"method":"m"}`}
	if diff := cmp.Diff(want, server); diff != "" {
		t.Errorf("the server recorded (-want +got)\n%s", diff)
	}
	want = []string{`1 theirs /post?s=1 v 200 {"id":1}`, `2 ours /post?s=1 v 0 {"id":1,"method":"m"}`}
	if diff := cmp.Diff(want, client); diff != "" {
		t.Errorf("the client recorded (-want +got)\n%s", diff)
	}
}

func TestSwappedLinesAreTheOtherSides(t *testing.T) {
	lines := []Line{{From: Ours, Session: "s"}, {From: Theirs}}
	want := []Line{{From: Theirs, Session: "s"}, {From: Ours}}
	if diff := cmp.Diff(want, Swapped(lines)); diff != "" {
		t.Error(diff)
	}
	if lines[0].From != Ours {
		t.Error("the lines themselves have changed")
	}
}

// A workload may be killed while it writes a line down, and whoever talks to it
// in the middle of a body: neither said what stands there.
func TestWhatWasCutOffIsNoMessage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cut.jsonl")
	log, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	}), log)
	whole := strings.NewReader(`{"method":"a"}`)
	cut := io.MultiReader(strings.NewReader(`{"meth`), iotest.ErrReader(io.ErrUnexpectedEOF))
	for _, body := range []io.Reader{whole, cut} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", body))
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"from":"theirs","message":{"meth`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	lines, err := Read(name)
	if err != nil || len(lines) != 1 || string(lines[0].Message) != `{"method":"a"}` {
		t.Errorf("%+v, %v", lines, err)
	}
}
