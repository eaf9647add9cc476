package httpleg

import (
	"bufio"
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
		switch b[0] {
		case ' ', '\t', '\r', '\n':
		case 0xef: // byte order mark
			// A body that ends here is not ours to read; a failure shows at
			// the next read.
			if bom, _ := r.Peek(3); string(bom) != "\ufeff" {
				return formOther, nil
			}
			_, _ = r.Discard(2)
		case '{', '[':
			return formJSON, nil
		case ':', 'd', 'e', 'i', 'r': // comment, data, event, id, retry
			return formStream, nil
		default:
			return formOther, nil
		}
		_, _ = r.Discard(1)
	}
}

// readAll reads a body of at most limit bytes.
func readAll(r io.Reader, limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, &peer.Failure{Reason: peer.Ended, Err: err}
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
