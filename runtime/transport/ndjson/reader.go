package ndjson

import (
	"bytes"
	"io"

	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Sizes of the reader's buffers, in bytes.
const (
	readBuffer = 32 << 10
	// headBytes is what is kept of a line that is over the limit.
	headBytes = 1 << 10
)

var bom = []byte("\xef\xbb\xbf")

// Line is one line from the peer without its end and without surrounding
// blanks; never empty. It belongs to whoever receives it.
type Line struct {
	// Data is the line; of a line over the limit only its beginning.
	Data []byte
	// Size is the number of bytes that were read for the line.
	Size int64
	// Salvaged is what could be read out of a line over the limit.
	Salvaged salvage.Peek
	// TooLong says that the line was over the limit and is lost.
	TooLong bool
}

// Reader splits a byte stream into lines. Memory stays below twice the limit,
// whatever arrives. It is not safe for concurrent use.
type Reader struct {
	src   io.Reader
	limit int
	buf   []byte // unread bytes are buf[r:w]
	r, w  int
	err   error
	begun bool
}

// NewReader makes a Reader whose lines have at most limit bytes.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: limit, buf: make([]byte, readBuffer)}
}

// Next returns the next line. Blank lines and a trailing CR are nothing (R5),
// one byte order mark at the very beginning is dropped (P8), and bytes after
// the last line end count as a line when the stream ends. The error is that of
// the stream, io.EOF at its end.
func (r *Reader) Next() (Line, error) {
	for {
		line, err := r.next()
		if err != nil || len(line.Data) > 0 {
			return line, err
		}
	}
}

func (r *Reader) next() (Line, error) {
	var (
		long []byte           // what did not fit into buf, or the head of a line over the limit
		size int64            // bytes of the line so far
		over *salvage.Scanner // set once the line is over the limit
	)
	for {
		piece, whole, err := r.piece()
		size += int64(len(piece))
		switch {
		case over != nil:
			over.Write(piece)
		case size > int64(r.limit):
			over = new(salvage.Scanner)
			over.Write(long)
			over.Write(piece)
			long = head(long, piece)
		case whole && len(long) == 0:
			return Line{Data: bytes.Clone(r.trim(piece)), Size: size}, nil
		default:
			long = append(long, piece...)
		}
		if whole || err != nil && size > 0 {
			if over != nil {
				return Line{Data: long, Size: size, Salvaged: over.Peek(), TooLong: true}, nil
			}
			return Line{Data: r.trim(long), Size: size}, nil
		}
		if err != nil {
			return Line{}, err
		}
	}
}

// piece returns the bytes up to the next line end, or what is buffered. whole
// says that the line ended there. The bytes are valid until the next call.
func (r *Reader) piece() (piece []byte, whole bool, err error) {
	if r.r == r.w {
		if r.err != nil {
			return nil, false, r.err
		}
		r.r, r.w = 0, 0
		for r.w == 0 && r.err == nil {
			r.w, r.err = r.src.Read(r.buf)
		}
		if r.w == 0 {
			return nil, false, r.err
		}
	}
	if i := bytes.IndexByte(r.buf[r.r:r.w], '\n'); i >= 0 {
		piece = r.buf[r.r : r.r+i]
		r.r += i + 1
		return piece, true, nil
	}
	piece = r.buf[r.r:r.w]
	r.r = r.w
	return piece, false, nil
}

func (r *Reader) trim(line []byte) []byte {
	if !r.begun && len(line) > 0 {
		r.begun = true
		line = bytes.TrimPrefix(line, bom)
	}
	return strictjson.Trim(line)
}

func head(a, b []byte) []byte {
	out := make([]byte, 0, headBytes)
	out = append(out, a[:min(len(a), headBytes)]...)
	return append(out, b[:min(len(b), headBytes-len(out))]...)
}
