package app

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

// The floor of the heap takes little of a small container.
func TestHeapFloor(t *testing.T) {
	for name, test := range map[string]struct {
		limit int64
		want  int
	}{
		"no limit":              {math.MaxInt64, 16 << 20},
		"the usual container":   {230 << 20, 230 << 20 / 16},
		"a large container":     {1 << 30, 16 << 20},
		"next to no memory":     {32 << 20, 2 << 20},
		"a limit that is wrong": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(heapFloor(test.limit)); got != test.want {
				t.Errorf("%d bytes, want %d", got, test.want)
			}
		})
	}
}

// A leak is looked for in the heap without its floor, so that is told.
func TestTheFloorIsTold(t *testing.T) {
	r := start(t, nil)
	_, metrics := r.get(r.scrape, "/metrics")
	want := fmt.Sprintf("\nfairlead_heap_floor_bytes %v\n", float64(floorBytes(debug.SetMemoryLimit(-1))))
	if !strings.Contains(metrics, want) {
		t.Errorf("no %q in the metrics", want)
	}
}
