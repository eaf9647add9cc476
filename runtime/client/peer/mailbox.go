package peer

import (
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Bounds of one call's mailbox, beyond which the oldest notification goes.
const (
	mailboxMessages = 256
	mailboxBytes    = 4 << 20
)

// mailbox holds what has arrived for one call until its own goroutine takes
// it: a slow consumer delays its own call and nobody else's (P18). The answer
// always fits and is always last.
type mailbox struct {
	ready chan struct{} // cap 1

	mu     sync.Mutex
	notes  []*jsonrpc.Message
	bytes  int
	answer *settled
}

// settled is how a call ended: an answer, or why there is none.
type settled struct {
	msg *jsonrpc.Message
	err error
}

// note adds a notification; it reports false when the answer is already in.
// dropped is the number of older ones that had to go.
func (b *mailbox) note(m *jsonrpc.Message) (dropped int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answer != nil {
		return 0, false
	}
	b.notes = append(b.notes, m)
	b.bytes += len(m.Raw)
	for len(b.notes) > mailboxMessages || b.bytes > mailboxBytes && len(b.notes) > 1 {
		b.bytes -= len(b.notes[0].Raw)
		b.notes[0] = nil
		b.notes = b.notes[1:]
		dropped++
	}
	b.signal()
	return dropped, true
}

// settle adds the answer; the first one wins.
func (b *mailbox) settle(s settled) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answer != nil {
		return false
	}
	b.answer = &s
	b.signal()
	return true
}

func (b *mailbox) take() (notes []*jsonrpc.Message, answer *settled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes, answer = b.notes, b.answer
	b.notes, b.bytes = nil, 0
	return notes, answer
}

func (b *mailbox) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}
