package record

import (
	"bytes"
	"io"
)

// Writer passes a stream of line-framed messages on and writes each down as
// sent by from.
func Writer(next io.Writer, from Side, log *Log) io.Writer {
	return &lineWriter{next: next, lines: lines{from: from, log: log}}
}

// Reader is Writer for a stream that is read.
func Reader(next io.Reader, from Side, log *Log) io.Reader {
	return &lineReader{next: next, lines: lines{from: from, log: log}}
}

type lineWriter struct {
	next  io.Writer
	lines lines
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.lines.write(p)
	return w.next.Write(p)
}

type lineReader struct {
	next  io.Reader
	lines lines
}

func (r *lineReader) Read(p []byte) (int, error) {
	n, err := r.next.Read(p)
	r.lines.write(p[:n])
	return n, err
}

type lines struct {
	from Side
	log  *Log
	rest []byte
}

func (l *lines) write(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.rest = append(l.rest, p...)
			return
		}
		l.rest = append(l.rest, p[:end]...)
		p = p[end+1:]
		if raw := bytes.TrimSpace(l.rest); len(raw) > 0 {
			l.log.add(Line{From: l.from}, raw)
		}
		l.rest = l.rest[:0]
	}
}
