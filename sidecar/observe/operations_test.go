package observe

import (
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// F2: what is remembered of series is bounded; beyond that they are counted all
// the same.
func TestSeriesAreFoundAgain(t *testing.T) {
	o := operations{vec: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "x"}, []string{"a", "b", "c", "d", "e"})}
	const more = maxSeries + 10
	for range 2 {
		for i := range more {
			o.observe([5]string{strconv.Itoa(i), "b", "c", "d", "e"}, 1)
		}
	}
	if n := len(*o.known.Load()); n != maxSeries {
		t.Errorf("%d series are remembered", n)
	}
	if n := testutil.CollectAndCount(o.vec); n != more {
		t.Errorf("%d series are counted, want %d", n, more)
	}
	labels := [5]string{"0", "b", "c", "d", "e"}
	if n := testing.AllocsPerRun(100, func() { o.observe(labels, 1) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
