package sse_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fairlead-dev/fairlead/runtime/sse"
)

func readAll(t *testing.T, r io.Reader, limit int) ([]sse.Event, error) {
	t.Helper()
	reader := &sse.Reader{R: r, MaxEvent: limit}
	var out []sse.Event
	for {
		ev, err := reader.Next()
		if err != nil {
			if _, again := reader.Next(); again != err {
				t.Errorf("second error %v after %v", again, err)
			}
			return out, err
		}
		out = append(out, ev)
	}
}

func TestReader(t *testing.T) {
	message := func(data string) sse.Event { return sse.Event{Data: []byte(data), RetryMS: -1} }
	tests := map[string]struct {
		in   string
		want []sse.Event
	}{
		"one event":                    {"data: a\n\n", []sse.Event{message("a")}},
		"CRLF":                         {"event: message\r\ndata: {}\r\n\r\n", []sse.Event{{Name: "message", Data: []byte("{}"), RetryMS: -1}}}, // C05
		"CR only":                      {"data: a\r\rdata: b\r\r", []sse.Event{message("a"), message("b")}},
		"several data lines":           {"data: a\ndata:b\ndata:  c\n\n", []sse.Event{message("a\nb\n c")}},
		"comments":                     {": keep\n\n:\n\ndata: a\n: inside\n\n", []sse.Event{message("a")}},
		"a named event":                {"event: ping\ndata: ping\n\n", []sse.Event{{Name: "ping", Data: []byte("ping"), RetryMS: -1}}}, // C06
		"an event name alone":          {"event: ping\n\ndata: a\n\n", []sse.Event{message("a")}},
		"id and empty data":            {"id: x.1\ndata:\n\n", []sse.Event{{ID: "x.1", HasID: true, Data: []byte{}, RetryMS: -1}}},
		"an id without data":           {"id: x\n\n", []sse.Event{{ID: "x", HasID: true, RetryMS: -1}}},
		"an id with NUL":               {"id: a\x00b\ndata: 1\n\n", []sse.Event{message("1")}},
		"retry":                        {"retry: 1500\n\n", []sse.Event{{RetryMS: 1500}}},
		"a retry that is no number":    {"retry: soon\ndata: 1\n\n", []sse.Event{message("1")}},
		"a field without a colon":      {"data\n\n", []sse.Event{{Data: []byte{}, RetryMS: -1}}},
		"unknown fields":               {"foo: bar\ndata: a\n\n", []sse.Event{message("a")}},
		"a byte order mark":            {"\ufeffdata: a\n\n", []sse.Event{message("a")}},
		"an unfinished event":          {"data: a\n\ndata: b\n", []sse.Event{message("a")}},
		"nothing":                      {"", nil},
		"U+2028 is no line end":        {"data: a\u2028b\n\n", []sse.Event{message("a\u2028b")}},
		"blank lines between":          {"\n\n\ndata: a\n\n\n\n", []sse.Event{message("a")}},
		"a name from an earlier block": {"event: ping\n\ndata: a\n\nevent: x\ndata: b\n\ndata: c\n\n", []sse.Event{message("a"), {Name: "x", Data: []byte("b"), RetryMS: -1}, message("c")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(tt.in), "bytewise": iotest.OneByteReader(strings.NewReader(tt.in)),
				"with EOF": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := readAll(t, r, 0)
				if err != io.EOF || !reflect.DeepEqual(got, tt.want) {
					t.Errorf("%s: got %+v, %v\nwant %+v", how, got, err, tt.want)
				}
			}
			// C05: cut at every position.
			for cut := range len(tt.in) {
				got, _ := readAll(t, io.MultiReader(strings.NewReader(tt.in[:cut]), strings.NewReader(tt.in[cut:])), 0)
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("cut at %d: got %+v", cut, got)
				}
			}
		})
	}
}

// An event is dispatched when its blank line is complete, not when more bytes
// come.
func TestReaderDoesNotWaitForTheLineFeed(t *testing.T) {
	pr, pw := io.Pipe()
	got := make(chan sse.Event, 1)
	go func() {
		ev, _ := (&sse.Reader{R: pr}).Next()
		got <- ev
	}()
	_, _ = pw.Write([]byte("data: a\r\n\r"))
	if ev := <-got; string(ev.Data) != "a" {
		t.Errorf("got %q", ev.Data)
	}
	_ = pw.Close()
}

func TestReaderIsBounded(t *testing.T) {
	for name, in := range map[string]io.Reader{
		"one endless line":   io.MultiReader(strings.NewReader("data: "), endless('x')),
		"endless data lines": endless('\n', "data: x"),
		"an endless comment": io.MultiReader(strings.NewReader(":"), endless('x')),
		"an endless name":    endless('x'),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readAll(t, in, 1<<16); !errors.Is(err, sse.ErrTooLong) {
				t.Errorf("got %v", err)
			}
		})
	}
}

type endlessReader struct{ text string }

func endless(c byte, prefix ...string) io.Reader {
	return endlessReader{strings.Join(prefix, "") + string(c)}
}

func (e endlessReader) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.text) <= len(p) {
		n += copy(p[n:], e.text)
	}
	return n, nil
}

func TestWriter(t *testing.T) {
	tests := map[string]struct{ got, want string }{
		"message":               {string(sse.AppendEvent(nil, "", "", []byte("{}"))), "data: {}\n\n"},
		"with id":               {string(sse.AppendEvent(nil, "", "h.1", []byte("{}"))), "id: h.1\ndata: {}\n\n"},
		"priming with no data":  {string(sse.AppendEvent(nil, "", "h.0", nil)), "id: h.0\ndata: \n\n"},
		"priming with a name":   {string(sse.AppendEvent(nil, "fairlead.prime", "h.0", []byte("{}"))), "id: h.0\nevent: fairlead.prime\ndata: {}\n\n"},
		"an id that would cut":  {string(sse.AppendEvent(nil, "", "a\ndata: x", []byte("1"))), "data: 1\n\n"},
		"data with line ends":   {string(sse.AppendEvent(nil, "", "", []byte("a\r\nid: x\rb\nc"))), "data: a\ndata: id: x\ndata: b\ndata: c\n\n"},
		"comment":               {string(sse.AppendComment(nil, "ok")), ": ok\n\n"},
		"comment with line end": {string(sse.AppendComment(nil, "a\ndata: b")), ": adata: b\n\n"},
		"priming with a retry":  {string(sse.AppendEvent(sse.AppendRetry(nil, 1000), "", "h.0", nil)), "retry: 1000\nid: h.0\ndata: \n\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

// FuzzSSEFrame: whatever is written reads back as exactly one event with equal
// data, and no field can be forged.
func FuzzSSEFrame(f *testing.F) {
	f.Add("", "h.1", []byte(`{"a":1}`))
	f.Add("ping", "a\r\nid: b", []byte("x\r\ndata: y\n\nevent: z"))
	f.Add("\x00", "", []byte("\r\r\n\n"))
	f.Fuzz(func(t *testing.T, name, id string, data []byte) {
		framed := sse.AppendEvent(nil, name, id, data)
		r := &sse.Reader{R: bytes.NewReader(framed), MaxEvent: 1 << 20}
		ev, err := r.Next()
		if err != nil {
			t.Fatalf("%v from %q", err, framed)
		}
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		if string(ev.Data) != lines {
			t.Fatalf("data %q came back as %q", data, ev.Data)
		}
		if ev.HasID && ev.ID != id || ev.Name != "" && ev.Name != name || ev.RetryMS != -1 {
			t.Fatalf("forged fields: %+v from %q", ev, framed)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("more than one event in %q", framed)
		}
	})
}

// FuzzSSERead: cutting the stream anywhere changes nothing.
func FuzzSSERead(f *testing.F) {
	f.Add([]byte("event: message\r\ndata: {}\r\n\r\n: c\n\nid: 1\ndata\n\n"), 5)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		if cut < 0 || cut > len(in) {
			return
		}
		whole, err1 := readAll(t, bytes.NewReader(in), 1<<12)
		parts, err2 := readAll(t, io.MultiReader(bytes.NewReader(in[:cut]), bytes.NewReader(in[cut:])), 1<<12)
		if err1 != err2 || !reflect.DeepEqual(whole, parts) {
			t.Fatalf("cut at %d: %+v %v, whole %+v %v", cut, parts, err2, whole, err1)
		}
	})
}
