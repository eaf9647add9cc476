package observe

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

var five = []string{"a", "b", "c", "d", "e"}

func newOperations() *operations {
	return &operations{desc: prometheus.NewDesc("x", "y", five, nil)}
}

// F2: series are bounded; beyond that the tools are counted together.
func TestSeriesAreBounded(t *testing.T) {
	o := newOperations()
	const more = maxSeries + 10
	for range 2 {
		for i := range more {
			o.observe([5]string{"a", "b", "c", "d", strconv.Itoa(i)}, time.Second)
		}
		o.observe([5]string{"a", "b", "c", "d", ""}, time.Second)
	}
	if n := testutil.CollectAndCount(o); n != maxSeries+2 {
		t.Errorf("%d series", n)
	}
	if n := len(o.known()); n != quickSeries {
		t.Errorf("%d series are found without a lock", n)
	}
	for tool, want := range map[string]uint64{"0": 2, strconv.Itoa(maxSeries - 1): 2, other: 2 * (more - maxSeries), "": 2} {
		if got := o.find([5]string{"a", "b", "c", "d", tool}).buckets[6].Load(); got != want {
			t.Errorf("tool %q: %d operations, want %d", tool, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { o.observe([5]string{"a", "b", "c", "d", "0"}, 1) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A scrape tells the same as of the library's own histogram.
func TestOperationsAreAHistogram(t *testing.T) {
	ours := newOperations()
	theirs := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "x", Help: "y", Buckets: seconds[:]}, five)
	took := []time.Duration{0, time.Nanosecond, time.Hour}
	for _, bound := range seconds {
		at := time.Duration(bound * float64(time.Second))
		took = append(took, at-time.Microsecond, at, at+time.Microsecond)
	}
	for i, d := range took {
		labels := [5]string{"1", "2", "3", "", strconv.Itoa(i % 2)}
		ours.observe(labels, d)
		theirs.WithLabelValues(labels[:]...).Observe(d.Seconds())
	}
	if diff := cmp.Diff(scraped(t, theirs), scraped(t, ours)); diff != "" {
		t.Error(diff)
	}
}

// scraped is what a scrape tells of a collector.
func scraped(t *testing.T, c prometheus.Collector) (lines []string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all[0].GetMetric() {
		h := m.GetHistogram()
		lines = append(lines, fmt.Sprintf("%v: %d, %.6f s", m.GetLabel(), h.GetSampleCount(), h.GetSampleSum()))
		for _, b := range h.GetBucket() {
			lines = append(lines, fmt.Sprint(b.GetUpperBound(), ": ", b.GetCumulativeCount()))
		}
	}
	return lines
}
