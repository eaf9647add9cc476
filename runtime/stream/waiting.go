package stream

import "bytes"

// Waiting ones may hold a quarter of a Budget together: clients who never come
// to read keep no memory from those who do (P18).
const waitingParts = 4

// Waiting holds the newest of the messages for which there is no stream yet. It
// is not safe for concurrent use: whoever has it guards it. A nil one is empty.
type Waiting struct {
	// Store is whose budget counts the bytes. Required.
	Store *Store
	// Max and MaxBytes bound the messages; a single one may be larger.
	Max, MaxBytes int

	messages [][]byte
	bytes    int // of the messages
	cost     int64
}

// Add takes a message, at the price of older ones where there is no room; lost
// is how many have gone, raw included when there is room for nothing.
func (w *Waiting) Add(raw []byte) (lost int) {
	w.Store.init()
	cost := int64(len(raw) + overhead)
	for len(w.messages) >= w.Max || len(w.messages) > 0 && w.bytes+len(raw) > w.MaxBytes {
		w.pop()
		lost++
	}
	for !w.Store.Budget.takeWaiting(cost) {
		lost++
		if len(w.messages) == 0 {
			return lost
		}
		w.pop()
	}
	w.messages = append(w.messages, raw)
	w.bytes += len(raw)
	w.cost += cost
	return lost
}

func (w *Waiting) pop() {
	n := len(w.messages[0])
	w.messages[0] = nil
	w.messages = w.messages[1:]
	w.bytes -= n
	w.cost -= int64(n + overhead)
	w.Store.Budget.giveWaiting(int64(n + overhead))
}

// Has reports whether the same message waits.
func (w *Waiting) Has(raw []byte) bool {
	if w == nil {
		return false
	}
	for _, waiting := range w.messages {
		if bytes.Equal(waiting, raw) {
			return true
		}
	}
	return false
}

// Take empties it and returns what waited, oldest first.
func (w *Waiting) Take() [][]byte {
	if w == nil || len(w.messages) == 0 {
		return nil
	}
	out := w.messages
	w.Store.Budget.giveWaiting(w.cost)
	w.messages, w.bytes, w.cost = nil, 0, 0
	return out
}

func (b *Budget) takeWaiting(n int64) bool {
	part := b.waitingPart()
	if !part.TryAcquire(n) {
		return false
	}
	if !b.TryAcquire(n) {
		part.Release(n)
		return false
	}
	return true
}

func (b *Budget) giveWaiting(n int64) {
	b.waitingPart().Release(n)
	b.Release(n)
}

// waitingPart counts what the waiting ones hold. Its bytes are the budget's, so
// nobody observes it.
func (b *Budget) waitingPart() *Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = &Budget{Max: max(b.limit()/waitingParts, 1)}
	}
	return b.waiting
}
