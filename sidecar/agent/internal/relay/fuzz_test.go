package relay

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

// Whatever arrives, it ends with an error, nothing beyond the window is kept,
// and what can be read is what the data frames before the error carried.
func FuzzFrames(f *testing.F) {
	frame := func(k kind, body string) string { return string(appendHeader(nil, k, len(body))) + body }
	for _, seed := range []string{
		"",
		frame(kindData, "ab") + frame(kindLine, `{"stop":{}}`) + frame(kindData, "c") + frame(kindEOF, ""),
		frame(kindClosed, "") + frame(kindClosed, "") + frame(kindData, "x"),
		frame(kindCredit, "\x00\x00\x00\x08"),
		frame(kindEOF, "") + frame(kindData, "x"),
		frame(kindLine, "a") + "\x01\x00\x00\x40\x01",
		"\x05\xff\xff\xff\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, _ := sockets(t)
		c, err := New(x, bytes.NewReader(raw), nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines [][]byte
		for {
			line, err := c.Next(64)
			if err != nil {
				break
			}
			lines = append(lines, bytes.Clone(line))
		}
		got, _ := io.ReadAll(c.In)
		if len(got) > Window {
			t.Fatalf("%d bytes were kept", len(got))
		}
		data, want := reference(raw)
		if !bytes.Equal(got, data) {
			t.Errorf("read %q, want %q", got, data)
		}
		if len(lines) != len(want) {
			t.Fatalf("%d lines, want %d", len(lines), len(want))
		}
		for i := range want {
			if !bytes.Equal(lines[i], want[i]) {
				t.Errorf("line %d is %q, want %q", i, lines[i], want[i])
			}
		}
	})
}

// reference reads frames as plainly as it can be done, up to the first that is
// wrong.
func reference(raw []byte) (data []byte, lines [][]byte) {
	window, ended := Window, false
	for len(raw) >= 5 {
		k, n, body := raw[0], binary.BigEndian.Uint32(raw[1:5]), raw[5:]
		if uint64(n) > uint64(len(body)) {
			return data, lines
		}
		body, raw = body[:n], body[n:]
		switch {
		case k == 1 && n >= 1 && n <= 16384 && !ended && int(n)+5 <= window:
			window -= int(n) + 5
			data = append(data, body...)
		case k == 2 && n == 0 && !ended:
			ended = true
		case k == 3 && n == 0:
		case k == 5 && n >= 1 && n <= 64:
			lines = append(lines, body)
		default: // a credit too: nothing was sent
			return data, lines
		}
	}
	return data, lines
}
