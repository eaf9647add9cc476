package sse

import (
	"bytes"
	"errors"
	"io"
	"strconv"
)

// ErrTooLong is returned for an event, comment or line beyond MaxEvent bytes.
var ErrTooLong = errors.New("event is too long")

// DefaultMaxEvent bounds one event when Reader.MaxEvent is zero.
const DefaultMaxEvent = 4 << 20

// Reader reads events. R is required; the zero values of the other fields
// work. It reads no further than needed to complete an event and is not for
// concurrent use. It does not close R.
type Reader struct {
	R io.Reader
	// MaxEvent bounds the bytes of one event, field names included.
	MaxEvent int
	// Activity, when set, is called after every read that brought bytes:
	// comments and skipped events keep a stream alive too.
	Activity func()

	buf     []byte // unread bytes of chunk
	chunk   []byte
	line    []byte // beginning of a line that spans chunks
	size    int    // bytes of the event so far
	skipLF  bool   // the last line ended in CR
	started bool   // a byte order mark can no longer come
	err     error
}

const chunkSize = 16 << 10

// Next returns the next event that has data, an id or a retry field. At the
// end of R it returns io.EOF; an event that was not finished by a blank line is
// dropped, as every client of event streams does. After an error it returns
// the same error again.
func (r *Reader) Next() (Event, error) {
	ev := Event{RetryMS: -1}
	data, some := []byte(nil), false
	for {
		line, err := r.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			r.size = 0
			if some {
				ev.Data = data
				return ev, nil
			}
			ev = Event{RetryMS: -1} // a name alone is no event
			continue
		}
		name, value := field(line)
		switch string(name) {
		case "data":
			if data == nil {
				data = make([]byte, 0, len(value))
			} else {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		case "event":
			ev.Name = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				ev.ID, ev.HasID, some = string(value), true, true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				ev.RetryMS, some = int64(ms), true
			}
		}
	}
}

// field splits a line; a line without a colon is a field with an empty value,
// one that begins with a colon a comment (empty name).
func field(line []byte) (name, value []byte) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return line, nil
	}
	name, value = line[:i], line[i+1:]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return name, value
}

// readLine returns one line without its end: LF, CR or CRLF, cut anywhere. The
// line is valid until the next call. A CR ends the line at once, so that an
// event does not wait for the LF that may follow.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if len(r.buf) == 0 {
			if err := r.fill(); err != nil {
				return nil, err
			}
		}
		if r.skipLF {
			r.skipLF = false
			if r.buf[0] == '\n' {
				r.buf = r.buf[1:]
				continue
			}
		}
		end := lineEnd(r.buf)
		if err := r.count(end); err != nil {
			return nil, err
		}
		if end == len(r.buf) {
			r.line = append(r.line, r.buf...)
			r.buf = nil
			continue
		}
		part := r.buf[:end]
		r.skipLF = r.buf[end] == '\r'
		r.buf = r.buf[end+1:]
		if len(r.line) > 0 {
			r.line = append(r.line, part...)
			part = r.line
		}
		if !r.started {
			r.started = true
			part = bytes.TrimPrefix(part, []byte("\ufeff"))
		}
		return part, nil
	}
}

func lineEnd(b []byte) int {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		end = len(b)
	}
	if cr := bytes.IndexByte(b[:end], '\r'); cr >= 0 {
		end = cr
	}
	return end
}

func (r *Reader) count(n int) error {
	limit := r.MaxEvent
	if limit <= 0 {
		limit = DefaultMaxEvent
	}
	r.size += n
	if r.size > limit {
		r.err = ErrTooLong
		return r.err
	}
	return nil
}

func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.chunk == nil {
		r.chunk = make([]byte, chunkSize)
	}
	for range 100 {
		n, err := r.R.Read(r.chunk)
		if err != nil {
			r.err = err // told after the bytes that came with it
		}
		if n > 0 {
			r.buf = r.chunk[:n]
			if r.Activity != nil {
				r.Activity()
			}
			return nil
		}
		if r.err != nil {
			return r.err
		}
	}
	r.err = io.ErrNoProgress
	return r.err
}
