package app

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// pathCollect is only there for tests.
const pathCollect = "/collect"

// maxStacks bounds what collect says.
const maxStacks = 1 << 20

// collect lets go of what is garbage, and then of what pools still held of it,
// and tells what all goroutines do: they hold the rest.
func collect() []byte {
	settle()
	stacks := make([]byte, maxStacks)
	return stacks[:runtime.Stack(stacks, true)]
}

func settle() {
	for range 2 {
		runtime.GC()
	}
}

// manyGoroutines is more than a test has at once.
const manyGoroutines = 4 << 10

// reserve has very many goroutines at once and returns how many bytes of the heap
// are left of them. What the runtime knows of a goroutine is never collected but
// kept for the next one: how much that is tells of the worst moment there was,
// and would look like a leak whenever there is a worse one.
func reserve() (bytes int) {
	before := liveBytes()
	var all sync.WaitGroup
	over := make(chan struct{})
	for range manyGoroutines {
		all.Go(func() { <-over })
	}
	close(over)
	all.Wait()
	return max(liveBytes()-before, 0)
}

// liveBytes is what a collection leaves of the heap.
func liveBytes() int {
	settle()
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(read)
	return int(read[0].Value.Uint64())
}
