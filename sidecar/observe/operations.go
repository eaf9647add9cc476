package observe

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxSeries bounds the series of one histogram of operations that name a tool
	// (F2); beyond it the tool is not told. Methods, revisions, transports and
	// failures are closed sets.
	maxSeries = 16 << 10
	// quickSeries bounds those that are found without a lock.
	quickSeries = 1024
)

// operations is a histogram of operations by their labels, of which the last is
// the tool. It is a collector of its own: a vector holds seven times as much for
// each series, which was most of what a sidecar remembers for long, and builds
// and hashes five labels for every look.
type operations struct {
	desc *prometheus.Desc

	quick atomic.Pointer[byLabels]

	mu   sync.Mutex // held while quick is replaced
	rest byLabels
}

type byLabels map[[5]string]*durations

// durations are those of one series. A scrape may see an operation in its sum a
// moment later than in its bucket.
type durations struct {
	buckets [len(seconds) + 1]atomic.Uint64 // of each on its own
	sum     atomic.Int64                    // nanoseconds
}

func (s *durations) observe(d time.Duration) {
	at, _ := slices.BinarySearch(seconds[:], d.Seconds())
	s.buckets[at].Add(1)
	s.sum.Add(int64(d))
}

// observe counts an operation that took d.
func (o *operations) observe(labels [5]string, d time.Duration) {
	s := o.known()[labels]
	if s == nil {
		s = o.find(labels)
	}
	s.observe(d)
}

// known are the series that are found without a lock; read-only.
func (o *operations) known() byLabels {
	if known := o.quick.Load(); known != nil {
		return *known
	}
	return nil
}

// find returns any series, and makes it if there is none.
func (o *operations) find(labels [5]string) *durations {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.known()
	for {
		for _, some := range []byLabels{known, o.rest} {
			if s := some[labels]; s != nil {
				return s
			}
		}
		tool := &labels[len(labels)-1]
		if len(known)+len(o.rest) < maxSeries || *tool == "" || *tool == other {
			break
		}
		*tool = other
	}
	s := &durations{}
	if len(known) < quickSeries {
		next := maps.Clone(known)
		if next == nil {
			next = byLabels{}
		}
		next[labels] = s
		o.quick.Store(&next)
		return s
	}
	if o.rest == nil {
		o.rest = byLabels{}
	}
	o.rest[labels] = s
	return s
}

// Describe implements prometheus.Collector.
func (o *operations) Describe(c chan<- *prometheus.Desc) { c <- o.desc }

// Collect implements prometheus.Collector.
func (o *operations) Collect(c chan<- prometheus.Metric) {
	o.mu.Lock()
	known, rest := o.known(), maps.Clone(o.rest)
	o.mu.Unlock()
	for _, some := range []byLabels{known, rest} {
		for labels, s := range some {
			c <- s.metric(o.desc, labels[:])
		}
	}
}

func (s *durations) metric(desc *prometheus.Desc, labels []string) prometheus.Metric {
	var count uint64
	upTo := make(map[float64]uint64, len(seconds))
	for i, bound := range seconds {
		count += s.buckets[i].Load()
		upTo[bound] = count
	}
	count += s.buckets[len(seconds)].Load()
	return prometheus.MustNewConstHistogram(desc, count, time.Duration(s.sum.Load()).Seconds(), upTo, labels...)
}
