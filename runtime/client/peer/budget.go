package peer

// Budget bounds what one process buffers, all legs together (P18). Both
// methods may be called concurrently and do not block.
type Budget interface {
	TryAcquire(n int64) bool
	Release(n int64)
}

// acquire takes n bytes; without a budget there is always room.
func acquire(b Budget, n int) bool { return b == nil || b.TryAcquire(int64(n)) }

func release(b Budget, n int) {
	if b != nil && n > 0 {
		b.Release(int64(n))
	}
}
