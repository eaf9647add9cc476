package ndjson

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// writeChunk bounds one write, so that the deadline measures a peer that takes
// nothing and not one that takes long.
const writeChunk = 64 << 10

// deadliner is what pipes and sockets of the operating system offer.
type deadliner interface{ SetWriteDeadline(time.Time) error }

// writer puts lines on the peer's input; one goroutine only.
type writer struct {
	dst     io.Writer
	timeout time.Duration
	// stalled is called when the peer took no byte for timeout and dst knows
	// no deadline; it must make the write return.
	stalled func()
	scratch []byte
}

// all writes the rest of a line that was begun, and messages.
func (w *writer) all(rest []byte, msgs [][]byte) error {
	if err := w.write(rest); err != nil {
		return err
	}
	return w.lines(msgs)
}

// lines writes messages, each ending in exactly one LF. Messages that fit are
// joined into one write.
func (w *writer) lines(msgs [][]byte) error {
	w.scratch = w.scratch[:0]
	for _, msg := range msgs {
		msg = strictjson.OneLine(msg) // P9
		if len(w.scratch)+len(msg)+1 > writeChunk {
			if err := w.flush(); err != nil {
				return err
			}
		}
		if len(msg) < writeChunk {
			w.scratch = append(append(w.scratch, msg...), '\n')
			continue
		}
		if err := w.write(msg); err != nil {
			return err
		}
		w.scratch = append(w.scratch, '\n')
	}
	return w.flush()
}

func (w *writer) flush() error {
	err := w.write(w.scratch)
	w.scratch = w.scratch[:0]
	return err
}

func (w *writer) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writeChunk)
		if err := w.chunk(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (w *writer) chunk(b []byte) error {
	d, ok := w.dst.(deadliner)
	if !ok || d.SetWriteDeadline(time.Now().Add(w.timeout)) != nil {
		t := time.AfterFunc(w.timeout, w.stalled)
		defer t.Stop()
	}
	_, err := w.dst.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrStalled
	}
	return err
}
