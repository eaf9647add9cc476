package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// stream is a sequence of messages that SSE responses follow, the first one
// and those that resume it.
type stream struct {
	id string

	mu     sync.Mutex
	events [][]byte
	sent   int // how many somebody has been sent
	ended  bool
	more   chan struct{} // closed and replaced with each change
}

func newStream(id string) *stream { return &stream{id: id, more: make(chan struct{})} }

func (s *stream) append(raw []byte) { s.change(func() { s.events = append(s.events, raw) }) }

func (s *stream) end() { s.change(func() { s.ended = true }) }

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.more)
	s.more = make(chan struct{})
}

// follow writes the events after the first `from` to w until the stream ends.
func (s *stream) follow(ctx context.Context, w http.ResponseWriter, from int) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(w)
	// 2025-11-25 wants an id before anything can be lost.
	fmt.Fprintf(w, "id: %s-%d\ndata:\n\n", s.id, from)
	for {
		_ = flusher.Flush()
		s.mu.Lock()
		events, ended, more := s.events[min(from, len(s.events)):], s.ended, s.more
		s.sent = max(s.sent, len(s.events))
		s.mu.Unlock()
		for _, raw := range events {
			from++
			fmt.Fprintf(w, "event: message\nid: %s-%d\ndata: %s\n\n", s.id, from, raw)
		}
		if len(events) > 0 {
			continue
		}
		if ended {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// unsent is where a reader begins that does not say what it has.
func (s *stream) unsent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// position reads an event id that follow has written.
func position(eventID string) (id string, seq int, ok bool) {
	i := strings.LastIndexByte(eventID, '-')
	if i < 0 {
		return "", 0, false
	}
	seq, err := strconv.Atoi(eventID[i+1:])
	return eventID[:i], seq, err == nil && seq >= 0
}

// only waits for the end and returns the stream's one message; nil if there is
// another before it, or none.
func (s *stream) only(ctx context.Context) []byte {
	for {
		s.mu.Lock()
		events, ended, more := s.events, s.ended, s.more
		s.mu.Unlock()
		if ended && len(events) == 1 {
			return events[0]
		}
		// The first message is no answer if it asks or tells something.
		if ended || len(events) > 1 || len(events) == 1 && bytes.Contains(events[0], []byte(`"method":`)) {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil
		}
	}
}
