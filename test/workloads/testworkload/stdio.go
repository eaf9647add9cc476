package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// cp949 stands for text that is replaced by raw bytes on its way out, and
// korean is what by: the same word in CP949.
const (
	cp949  = "@CP949@"
	korean = "\xc7\xd1\xb1\xdb"
)

// greeting is what a friendly server prints before it speaks the protocol.
const greeting = "🚀 demo server v1 ready\n\n\x1b[32mlistening\x1b[0m\n"

// serveStdio serves one session and ends, in the middle of whatever it does,
// with its input (C11).
func serveStdio(o options) error {
	for i := range o.stderrAtStart {
		fmt.Fprintf(os.Stderr, "starting %d\n", i)
	}
	if o.exit >= 0 {
		os.Exit(o.exit)
	}
	out := &lineWriter{w: record.Writer(os.Stdout, record.Ours, o.record), o: o}
	s := newSession(o, out.write)
	in := bufio.NewReader(record.Reader(os.Stdin, record.Theirs, o.record))
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintf(os.Stderr, "no message: %.100q\n", line)
			continue
		}
		switch {
		case m.Method == "":
			s.response(m)
		case m.ID == nil:
			s.notification(m)
		case m.Method == "initialize": // before anything else is read
			s.requestTo(out, m)
		default:
			go s.requestTo(out, m)
		}
	}
}

func (s *session) requestTo(out *lineWriter, m message) {
	if answer := s.request(context.Background(), m, out.write); answer != nil {
		out.write(answer)
	}
}

// lineWriter writes one message a line, with what the options do to it.
type lineWriter struct {
	mu      sync.Mutex
	w       io.Writer
	o       options
	greeted bool
}

func (l *lineWriter) write(raw []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.garbageFirst && !l.greeted {
		io.WriteString(l.w, greeting)
	}
	l.greeted = true
	if l.o.badUTF8 {
		raw = bytes.ReplaceAll(raw, []byte(cp949), []byte(korean))
	}
	end := "\n"
	if l.o.crlf {
		end = "\r\n\r\n"
	}
	_, _ = l.w.Write(append(raw, end...))
}
