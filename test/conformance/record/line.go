package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Side is who sent a message.
type Side string

// The sides as seen by what is under test.
const (
	Ours   Side = "ours"
	Theirs Side = "theirs"
)

// Line is one recorded message.
type Line struct {
	// Exchange numbers HTTP requests; all of stdio is exchange 0.
	Exchange int64  `json:"exchange,omitempty"`
	From     Side   `json:"from"`
	Session  string `json:"session,omitempty"`
	// Version is the MCP-Protocol-Version header of the HTTP request.
	Version string `json:"version,omitempty"`
	// Status is the HTTP status that the message came with, if any.
	Status int `json:"status,omitempty"`
	// Message is the message. What is no JSON is in Broken.
	Message json.RawMessage `json:"message,omitempty"`
	Broken  string          `json:"broken,omitempty"`
}

// Swapped returns lines with their sides exchanged: as the other side would
// have written them down.
func Swapped(lines []Line) []Line {
	out := slices.Clone(lines)
	for i := range out {
		if out[i].From == Ours {
			out[i].From = Theirs
		} else {
			out[i].From = Ours
		}
	}
	return out
}

// maxMessage bounds what is kept of one message; of a longer one only that it
// was there.
const maxMessage = 8 << 20

// Log writes lines. It is safe for concurrent use. The zero value discards.
type Log struct {
	mu  sync.Mutex
	w   *bufio.Writer
	c   io.Closer
	err error
}

// Create makes a log of the file, which it empties first. {pid} in its name
// becomes the process's id: a workload may have several processes.
func Create(name string) (*Log, error) {
	f, err := os.Create(strings.ReplaceAll(name, "{pid}", strconv.Itoa(os.Getpid())))
	if err != nil {
		return nil, err
	}
	return &Log{w: bufio.NewWriter(f), c: f}, nil
}

// add writes what raw holds; context is the line without its message.
func (l *Log) add(context Line, raw []byte) {
	switch {
	case len(raw) > maxMessage:
		context.Broken = fmt.Sprintf("longer than %d bytes", maxMessage)
	case json.Valid(raw):
		context.Message = raw
	default:
		context.Broken = string(raw)
	}
	line, err := json.Marshal(context)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil || l.err != nil {
		return
	}
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	// Flushed at once: what is recorded may be ended by a signal.
	l.err = errors.Join(err, l.w.Flush())
}

// Close closes the file and returns the first error of writing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return nil
	}
	l.w = nil
	return errors.Join(l.err, l.c.Close())
}

// Read returns all lines of a file. A last one without an end was cut off with
// the process that wrote it, and is none.
func Read(name string) ([]Line, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Line
	for in := bufio.NewReader(f); ; {
		raw, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var l Line
		if err == nil {
			err = json.Unmarshal(raw, &l)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, after %d lines: %w", name, len(out), err)
		}
		out = append(out, l)
	}
}
