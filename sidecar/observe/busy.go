package observe

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	busyName = "fairlead_busy_seconds_total"
	busyHelp = "Time integral of active requests: its rate is the average concurrency, without the error of sampling."
)

// busy integrates the number of active requests over time. It is a collector,
// so that requests in flight count at the moment of a scrape.
type busy struct {
	desc *prometheus.Desc

	mu     sync.Mutex
	active int
	since  time.Time // of the last change
	sum    float64
}

func newBusy() *busy {
	return &busy{desc: prometheus.NewDesc(busyName, busyHelp, nil, nil), since: time.Now()}
}

func (b *busy) add(delta int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	b.active += delta
}

// settle brings sum up to now; the lock is held.
func (b *busy) settle() {
	now := time.Now()
	b.sum += float64(b.active) * now.Sub(b.since).Seconds()
	b.since = now
}

// Describe implements prometheus.Collector.
func (b *busy) Describe(c chan<- *prometheus.Desc) { c <- b.desc }

// Collect implements prometheus.Collector.
func (b *busy) Collect(c chan<- prometheus.Metric) {
	b.mu.Lock()
	b.settle()
	sum := b.sum
	b.mu.Unlock()
	c <- prometheus.MustNewConstMetric(b.desc, prometheus.CounterValue, sum)
}
