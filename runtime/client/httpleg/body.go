package httpleg

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

// drainBytes is how much of a body that nobody needs is read, so that its
// connection can be used again.
const drainBytes = 64 << 10

// decoded is the body without its content encoding (R18).
func decoded(resp *http.Response) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, &peer.Failure{Reason: peer.BadResponse, Status: resp.StatusCode, Err: err}
		}
		return r, nil
	case "deflate":
		return inflate(bufio.NewReader(resp.Body)), nil
	}
	return nil, &peer.Failure{Reason: peer.BadResponse, Status: resp.StatusCode, Err: errors.New("unknown content encoding")}
}

// inflate reads "deflate", which is zlib's format by the book and bare deflate
// from some servers.
func inflate(r *bufio.Reader) io.Reader {
	if b, err := r.Peek(1); err == nil && b[0]&0x0f == 8 {
		if z, err := zlib.NewReader(r); err == nil {
			return z
		}
	}
	return flate.NewReader(r)
}

// form is what a body turned out to be.
type form uint8

const (
	formEmpty form = iota
	formJSON
	formStream
	formOther
)

// wholeBytes is the longest body of known length that is read at once.
const wholeBytes = 64 << 10

// entire reads the body where its length says that it is short, which most are,
// and closes it; nil where it does not.
func entire(resp *http.Response, limit int) ([]byte, error) {
	if resp.ContentLength <= 0 || resp.ContentLength > int64(min(limit, wholeBytes)) || resp.Header["Content-Encoding"] != nil {
		return nil, nil
	}
	b := make([]byte, resp.ContentLength)
	if _, err := io.ReadFull(resp.Body, b); err != nil {
		return nil, &peer.Failure{Reason: peer.Ended, Err: err}
	}
	_ = resp.Body.Close()
	return b, nil
}

// begun reads as much of a body as it takes to know what it is.
func begun(resp *http.Response) (form, io.Reader, error) {
	body, err := decoded(resp)
	if err != nil {
		return formEmpty, nil, err
	}
	r := bufio.NewReader(body)
	what, err := sniff(r)
	if err != nil {
		return what, nil, &peer.Failure{Reason: peer.Ended, Err: err}
	}
	return what, r, nil
}

// sniff looks at the first byte that means something.
func sniff(r *bufio.Reader) (form, error) {
	for {
		b, err := r.Peek(1)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return formEmpty, nil
			}
			return formEmpty, err
		}
		if b[0] == bom[0] {
			// A body that ends here is not ours to read; a failure shows at
			// the next read.
			if first, _ := r.Peek(len(bom)); string(first) != bom {
				return formOther, nil
			}
			_, _ = r.Discard(len(bom))
			continue
		}
		if what := formOf(b[0]); what != formEmpty {
			return what, nil
		}
		_, _ = r.Discard(1)
	}
}

// sniffBytes is sniff for a body that has been read; rest begins with that byte.
func sniffBytes(b []byte) (what form, rest []byte) {
	for len(b) > 0 {
		if b[0] == bom[0] {
			if !bytes.HasPrefix(b, []byte(bom)) {
				return formOther, b
			}
			b = b[len(bom):]
			continue
		}
		if what = formOf(b[0]); what != formEmpty {
			return what, b
		}
		b = b[1:]
	}
	return formEmpty, b
}

// bom is a byte order mark.
const bom = "\ufeff"

// formOf is what a body is that begins with a byte; formEmpty is whitespace.
func formOf(first byte) form {
	switch first {
	case ' ', '\t', '\r', '\n':
		return formEmpty
	case '{', '[':
		return formJSON
	case ':', 'd', 'e', 'i', 'r': // comment, data, event, id, retry
		return formStream
	}
	return formOther
}

// readAll reads a body of at most limit bytes. With an error comes what could be
// read, if it is not too large.
func readAll(r io.Reader, limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil && len(b) <= limit {
		return b, &peer.Failure{Reason: peer.Ended, Err: err}
	}
	if len(b) > limit {
		return nil, &peer.Failure{Reason: peer.TooLarge, Err: fmt.Errorf("more than %d bytes", limit)}
	}
	return b, nil
}

// discard reads a little of a body and closes it.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, drainBytes)
	_ = resp.Body.Close()
}
