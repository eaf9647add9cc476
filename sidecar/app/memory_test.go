package app

import (
	"fmt"
	"math"
	"net/http"
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

// A leak is looked for in the heap without its floor, and in what is remembered.
func TestWhatMemoryIsForIsTold(t *testing.T) {
	r := start(t, nil)
	_, metrics := r.get(r.scrape, "/metrics")
	for _, want := range []string{
		fmt.Sprintf("\nfairlead_heap_floor_bytes %v\n", float64(floorBytes(debug.SetMemoryLimit(-1)))),
		"\nfairlead_remembered{kind=\"fakes\"} 7\n",
		"\nfairlead_remembered{kind=\"session_ids\"} 0\n",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %q in the metrics", want)
		}
	}
}

// The most goroutines that there ever were is no leak: whoever looks for one has
// had more of them before.
func TestGoroutinesAreReserved(t *testing.T) {
	const each = 256 // at least, of the runtime for a goroutine
	reserve()
	if again := reserve(); again > manyGoroutines*each/10 {
		t.Errorf("the same goroutines again take %d bytes more", again)
	}
}

// Nobody can make a sidecar collect who did not start it that way.
func TestCollectionIsForTests(t *testing.T) {
	for name, want := range map[string]int{"as always": http.StatusNotFound, "in tests": http.StatusOK} {
		t.Run(name, func(t *testing.T) {
			r := start(t, func(c *Config, _ string) { c.Collect = want == http.StatusOK })
			code, body := r.get(r.admin, pathCollect)
			if code != want || (code == http.StatusOK) != strings.Contains(body, "app.collect") {
				t.Errorf("%d %s", code, body)
			}
			if code, body := r.get(r.admin, "/livez"); code != http.StatusOK {
				t.Errorf("/livez: %d %s", code, body)
			}
		})
	}
}
