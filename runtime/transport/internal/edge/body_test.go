package edge

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// P18: a body takes its size of the budget; a large one several times that,
// unless the whole budget is less.
func TestWhatABodyTakesOfTheBudget(t *testing.T) {
	for name, test := range map[string]struct {
		size   int
		length bool // it is known before
		budget int64
		want   int64 // what is held; of a body that has bytes, 0: refused
	}{
		"a small body":                            {1000, true, 1 << 30, 1000},
		"a large body":                            {largeBody, true, 1 << 30, 3 * largeBody},
		"a large body and little room":            {largeBody, true, 2 * largeBody, largeBody},
		"a body beyond the budget":                {largeBody, true, largeBody - 1, 0},
		"a small body of unknown length":          {1000, false, 1 << 30, 1000},
		"a body that turns out to be a large one": {largeBody + 1, false, 1 << 30, 3 * (largeBody + 1)},
		"one that might have been and is not":     {smallBody + 1, false, 1 << 30, smallBody + 1},
		"one that might be, with little room":     {smallBody + 1, false, 2 << 20, smallBody + 1},
		"one that might be, with too little":      {smallBody + 1, false, 1<<20 - 1, 0},
		"no body":                                 {0, true, 1 << 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			budget := &stream.Budget{Max: test.budget}
			r := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", test.size)))
			if !test.length {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			b := new(Body)
			denial := b.Read(w, r, Limits{Bytes: 1 << 20, Time: time.Second, Budget: budget})
			if (denial != nil) != (test.want == 0 && test.size > 0) || budget.Used() != test.want {
				t.Fatalf("denied %v, %d bytes held, want %d", denial, budget.Used(), test.want)
			}
			if denial != nil {
				return
			}
			if len(b.Data) != test.size {
				t.Errorf("%d bytes read", len(b.Data))
			}
			b.Release()
			if budget.Used() != 0 {
				t.Errorf("%d bytes are still held", budget.Used())
			}
		})
	}
}
