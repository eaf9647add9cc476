package stream

import "context"

// Large takers may hold three quarters of a Budget together, the others wait
// for their turn here and not in front of everybody. So a few of them, which
// may have announced much and sent nothing, keep neither small messages nor
// streams from the rest (P18).
const largeQuarters = 3

// EnterLarge waits until there is room among the large ones for n more bytes of
// a taker that holds so many there already, or until ctx ends; the error is its
// cause. It takes nothing of the budget itself, which comes next. held is for
// LeaveLarge: a taker larger than all of that room has it to itself.
func (b *Budget) EnterLarge(ctx context.Context, n, already int64) (held int64, err error) {
	part := b.part()
	held = min(n, part.limit()-already)
	if held <= 0 {
		return 0, nil
	}
	return held, part.Acquire(ctx, held)
}

// LeaveLarge gives back what EnterLarge took.
func (b *Budget) LeaveLarge(held int64) {
	if held > 0 {
		b.part().Release(held)
	}
}

// part counts what the large ones hold. Its bytes are the budget's, so nobody
// observes it.
func (b *Budget) part() *Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.large == nil {
		b.large = &Budget{Max: max(b.limit()/4*largeQuarters, 1)}
	}
	return b.large
}
