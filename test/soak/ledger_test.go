package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// ledger is what one life asked and was answered. Safe for concurrent use.
type ledger struct {
	life life
	// wrong is told of everything that must not be.
	wrong func(format string, args ...any)

	mu       sync.Mutex
	asked    map[string]bool // by id
	answered map[string]arrival
	bytes    int64
}

// arrival is one answer. The same event may come again when a stream is taken
// up: it has the same id and the same bytes.
type arrival struct {
	event string
	body  []byte
}

func newLedger(l life, wrong func(format string, args ...any)) *ledger {
	return &ledger{life: l, wrong: wrong, asked: map[string]bool{}, answered: map[string]arrival{}}
}

// sent notes the requests of a body.
func (l *ledger) sent(body []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(body, &m) != nil || m.Method == "" || m.ID == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[string(m.ID)] = true
}

// isReply says whether a body is an answer to the server.
func isReply(body []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	return json.Unmarshal(body, &m) == nil && m.Method == "" && m.ID != nil
}

// got looks at any piece of what came, whole lines of it.
func (l *ledger) got(text []byte) {
	if token := l.life.foreign(text); token != "" {
		l.wrong("life %d got %s, of another: %.300s", l.life, token, text)
	}
	l.mu.Lock()
	l.bytes += int64(len(text))
	l.mu.Unlock()
}

// message looks at a whole message; event is the id of the event that it came
// as, "" if none.
func (l *ledger) message(event string, raw []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		l.wrong("life %d got what is no message: %.300q", l.life, raw)
		return
	}
	if m.Method != "" || m.ID == nil || string(m.ID) == "null" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := string(m.ID)
	if !l.asked[id] {
		l.wrong("life %d got an answer to %s, which it never asked: %.300s", l.life, id, raw)
		return
	}
	first, again := l.answered[id]
	switch {
	case !again:
		l.answered[id] = arrival{event, bytes.Clone(raw)}
	case event == "" || first.event != event || !bytes.Equal(first.body, raw):
		l.wrong("life %d got two answers to %s:\n%.300s (event %q)\n%.300s (event %q)", l.life, id, first.body, first.event, raw, event)
	}
}

// faults collects what is wrong, and shows the first of it.
type faults struct {
	mu    sync.Mutex
	count int
	first []string
}

const shownFaults = 20

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if len(f.first) < shownFaults {
		f.first = append(f.first, fmt.Sprintf(format, args...))
	}
}
