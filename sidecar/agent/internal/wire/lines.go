package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong is a line over its bound; the connection is of no use after it.
var ErrTooLong = errors.New("line too long")

// readBytes is what is read at once. Nearly every line fits, and both ends have
// a reader for as long as a process lives.
const readBytes = 512

// Lines reads lines of bounded length.
type Lines struct{ r *bufio.Reader }

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, readBytes)} }

// Rest is what follows the lines that were read. Next may not be called any
// more.
func (l *Lines) Rest() io.Reader { return l.r }

// Next returns the next line without its newline, valid until the next call.
// A line that the peer did not finish is io.ErrUnexpectedEOF.
func (l *Lines) Next(max int) ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > max {
			return nil, ErrTooLong
		}
		switch {
		case err == nil && line == nil:
			return part[:len(part)-1], nil
		case err == nil:
			line = append(line, part...)
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
		case errors.Is(err, io.EOF) && len(line)+len(part) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// Encode makes a line of v, newline included, refusing one over max.
func Encode(v any, max int) ([]byte, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(line)+1 > max {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(line)+1, max)
	}
	return append(line, '\n'), nil
}
