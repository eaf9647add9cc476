package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/google/go-cmp/cmp"
)

func readAll(t *testing.T, src io.Reader, limit int) (lines []Line) {
	t.Helper()
	r := NewReader(src, limit)
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

func texts(lines []Line) (out []string) {
	for _, l := range lines {
		out = append(out, string(l.Data))
	}
	return out
}

func TestReader(t *testing.T) {
	big := `{"id":1,"result":"` + strings.Repeat("a", 130_000) + `"}`
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"lines end in LF":                             {"{}\n[]\n", []string{"{}", "[]"}},
		"a trailing CR and bare CRs are nothing":      {"{}\r\n\r\n\r\n", []string{"{}"}},                                               // C09, W18.1
		"a banner, a blank line, then the protocol":   {"🚀 up\n\n\x1b[32mok\x1b[0m\n{}\n", []string{"🚀 up", "\x1b[32mok\x1b[0m", "{}"}}, // C07
		"one byte order mark at the start is dropped": {"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n", []string{"{}", "\xef\xbb\xbf{}"}},           // P8
		"a byte order mark on a line of its own":      {"\xef\xbb\xbf\r\n{}\n", []string{"{}"}},
		"130 KB on one line":                          {big + "\n{}\n", []string{big, "{}"}}, // C08
		"bytes after the last line end":               {"{}\n{\"id\":1}", []string{"{}", `{"id":1}`}},
		"an empty stream":                             {"", nil},
		"only blanks":                                 {" \n\t\n\r", nil},
		"blanks around a message":                     {"  {}\t \n", []string{"{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"whole":    strings.NewReader(tc.in),
				"by bytes": iotest.OneByteReader(strings.NewReader(tc.in)),
				"by half":  iotest.HalfReader(strings.NewReader(tc.in)),
				"with EOF": iotest.DataErrReader(strings.NewReader(tc.in)),
			} {
				if diff := cmp.Diff(tc.want, texts(readAll(t, src, 1<<20))); diff != "" {
					t.Errorf("%s: %s", how, diff)
				}
			}
		})
	}
}

func TestALineOverTheLimitIsLostButNamed(t *testing.T) {
	long := `{"result":"` + strings.Repeat("x", 100_000) + `","id":41}`
	lines := readAll(t, strings.NewReader("{}\n"+long+"\n[]\n"), 1000)
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	got := lines[1]
	if !got.TooLong || got.Size != int64(len(long)) || len(got.Data) != headBytes {
		t.Errorf("TooLong %v, size %d, kept %d", got.TooLong, got.Size, len(got.Data))
	}
	if want := (salvage.Peek{ID: "41", Object: true}); got.Salvaged != want {
		t.Errorf("salvaged %+v", got.Salvaged)
	}
	if lines[2].TooLong || string(lines[2].Data) != "[]" {
		t.Errorf("next line %+v", lines[2])
	}
}

// endless gives n bytes without a line end.
type endless struct{ n int64 }

func (e *endless) Read(b []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), e.n)
	for i := range b[:n] {
		b[i] = 'x'
	}
	e.n -= n
	return int(n), nil
}

// P32: no frame can make memory grow beyond its limit.
func TestAnEndlessLineCostsBoundedMemory(t *testing.T) {
	const limit, size = 1 << 20, 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, err := NewReader(&endless{size}, limit).Next()
	runtime.ReadMemStats(&after)
	if err != nil || !line.TooLong || line.Size != size {
		t.Fatalf("%v, %+v", err, line)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8*limit {
		t.Errorf("allocated %d bytes in all for a limit of %d", grown, limit)
	}
}

func TestTheErrorOfTheStreamComesAfterItsLines(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(broken)), 100)
	for _, want := range []string{"{}", "{"} {
		line, err := r.Next()
		if err != nil || string(line.Data) != want {
			t.Fatalf("%q, %v", line.Data, err)
		}
	}
	for range 2 {
		if _, err := r.Next(); !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
}

func TestExcerpt(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"\x1b[32mgo\x1b[0m":      `\x1b[32mgo\x1b[0m`,
		"\xc7\xd1":               `\xc7\xd1`,
		strings.Repeat("a", 201): strings.Repeat("a", 200) + "...",
		`say "hi"` + "\u2028":    `say \"hi\"\u2028`,
	} {
		if got := Excerpt([]byte(in)); got != want {
			t.Errorf("Excerpt(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzReader compares the reader with splitting the whole text, however the
// bytes are cut.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{}\r\n\n[1]"), uint8(1), uint16(10))
	f.Add([]byte("\xef\xbb\xbf{\"id\":1}\n"), uint8(3), uint16(4))
	f.Add([]byte(strings.Repeat("x", 300)+"\n{}"), uint8(7), uint16(100))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8, limit uint16) {
		max := int(limit) + 1
		var want []string
		first := true
		for _, l := range bytes.Split(b, []byte("\n")) {
			if len(l) > max {
				first = false
				want = append(want, fmt.Sprintf("long %d", len(l)))
				continue
			}
			if first && len(l) > 0 {
				l, first = bytes.TrimPrefix(l, bom), false
			}
			if l = bytes.Trim(l, " \t\r"); len(l) > 0 {
				want = append(want, string(l))
			}
		}
		var got []string
		for _, l := range readAll(t, &pieces{b, int(piece)%40 + 1}, max) {
			if l.TooLong {
				got = append(got, fmt.Sprintf("long %d", l.Size))
				continue
			}
			got = append(got, string(l.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

type pieces struct {
	b []byte
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.b[:min(p.n, len(p.b))])
	p.b = p.b[n:]
	return n, nil
}
