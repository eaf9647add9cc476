package stream

import "context"

// Large takers may hold three quarters of a Budget together, the others wait
// for their turn here and not in front of everybody. So a few of them, which
// may have announced much and sent nothing, keep neither small messages nor
// streams from the rest (P18).
const largeQuarters = 3

// EnterLarge waits until there is room among the large ones for n bytes, or
// until ctx ends; the error is its cause. It takes nothing of the budget itself,
// which comes next. held is what to give to LeaveLarge: a taker larger than all
// of that room has it to itself. Whoever holds a part of it may not enter again.
func (b *Budget) EnterLarge(ctx context.Context, n int64) (held int64, err error) {
	part := b.part()
	held = min(n, part.limit())
	if err := part.Acquire(ctx, held); err != nil {
		return 0, err
	}
	return held, nil
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
