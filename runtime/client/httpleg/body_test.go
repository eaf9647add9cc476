package httpleg

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// R18: what a body is shows in its first byte that means something, however it
// is read.
func TestWhatABodyIs(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want form
		rest string
	}{
		"an object":                          {`{"a":1}`, formJSON, `{"a":1}`},
		"an array after space":               {" \r\n\t[1]", formJSON, "[1]"},
		"an object after a mark":             {"\ufeff {}", formJSON, "{}"},
		"an event":                           {"data: x\n\n", formStream, "data: x\n\n"},
		"a comment after a mark":             {"\ufeff: hi\n", formStream, ": hi\n"},
		"a page":                             {"<html>", formOther, "<html>"},
		"a byte that only looks like a mark": {"\xef\xbb.", formOther, "\xef\xbb."},
		"half a mark":                        {"\xef\xbb", formOther, "\xef\xbb"},
		"only space":                         {" \n ", formEmpty, ""},
		"nothing":                            {"", formEmpty, ""},
	} {
		t.Run(name, func(t *testing.T) {
			what, rest := sniffBytes([]byte(test.body))
			if what != test.want || string(rest) != test.rest {
				t.Errorf("read at once: %v, rest %q", what, rest)
			}
			r := bufio.NewReader(strings.NewReader(test.body))
			what, err := sniff(r)
			left, _ := io.ReadAll(r)
			if err != nil || what != test.want || string(left) != test.rest {
				t.Errorf("read as it comes: %v, rest %q, %v", what, left, err)
			}
		})
	}
}

func TestOnlyShortBodiesOfKnownLengthAreReadAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		length int64
		coding string
		limit  int
		whole  bool
		fails  bool
	}{
		"short":             {length: 5, limit: 100, whole: true},
		"of unknown length": {length: -1, limit: 100},
		"over the limit":    {length: 5, limit: 4},
		"long":              {length: wholeBytes + 1, limit: 1 << 30},
		"compressed":        {length: 5, coding: "gzip", limit: 100},
		"that breaks off":   {length: 9, limit: 100, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			resp := &http.Response{ContentLength: test.length, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("12345"))}
			if test.coding != "" {
				resp.Header.Set("Content-Encoding", test.coding)
			}
			b, err := entire(resp, test.limit)
			if (b != nil) != test.whole || (err != nil) != test.fails {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
