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

// busy counts the active requests and integrates their number over time. It is a
// collector, so that requests in flight count at the moment of a scrape.
type busy struct {
	desc *prometheus.Desc
	born time.Time

	mu     sync.Mutex
	active int
	since  time.Duration // the last change, after born
	sum    float64       // seconds
}

func newBusy() *busy {
	return &busy{desc: prometheus.NewDesc(busyName, busyHelp, nil, nil), born: time.Now()}
}

// now is the number of active requests.
func (b *busy) now() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.active
}

func (b *busy) add(delta int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	b.active += delta
}

// settle brings sum up to now; the lock is held.
func (b *busy) settle() {
	now := time.Since(b.born)
	b.sum += float64(b.active) * (now - b.since).Seconds()
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
