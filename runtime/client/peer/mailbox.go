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
	ready  chan struct{} // cap 1; nil where nobody waits for it
	budget Budget        // may be nil

	mu    sync.Mutex
	notes []*jsonrpc.Message
	bytes int
	over  bool // end is set; nothing is added any more
	end   settled
}

// settled is how a call ended: an answer, or why there is none.
type settled struct {
	answer Answer
	err    error
	// alone: the table of calls has forgotten it, and the server asks nothing
	// that belongs to it.
	alone bool
}

// note adds a notification; it reports false when the call is over.
// dropped is the number of notifications that had to go.
func (b *mailbox) note(m *jsonrpc.Message) (dropped int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, false
	}
	for len(b.notes) > 0 && (len(b.notes) >= mailboxMessages || b.bytes+len(m.Raw) > mailboxBytes) {
		b.drop()
		dropped++
	}
	for !acquire(b.budget, len(m.Raw)) {
		if len(b.notes) == 0 {
			return dropped + 1, true
		}
		b.drop()
		dropped++
	}
	b.notes = append(b.notes, m)
	b.bytes += len(m.Raw)
	b.signal()
	return dropped, true
}

// drop loses the oldest notification; mu is held and there is one.
func (b *mailbox) drop() {
	n := len(b.notes[0].Raw)
	b.notes[0] = nil
	b.notes = b.notes[1:]
	b.bytes -= n
	release(b.budget, n)
}

// settle adds the end; the first one wins.
func (b *mailbox) settle(s settled) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return false
	}
	b.over, b.end = true, s
	b.signal()
	return true
}

// take empties the mailbox. The end, if over, is the last that it takes.
func (b *mailbox) take() (notes []*jsonrpc.Message, end settled, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes = b.notes
	b.clear()
	return notes, b.end, b.over
}

// close drops what nobody will read, now and later.
func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.over, b.end.err = true, errCallOver
	}
	b.clear()
}

// clear takes the notifications out; mu is held.
func (b *mailbox) clear() {
	release(b.budget, b.bytes)
	b.notes, b.bytes = nil, 0
}

func (b *mailbox) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}
