package observe

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxSeries bounds the series that are found without asking the vector.
const maxSeries = 4096

// operations is a histogram of operations by their labels. The vector builds
// and hashes five labels for every look; each series is looked up there once.
type operations struct {
	vec *prometheus.HistogramVec

	mu    sync.RWMutex
	known map[[5]string]prometheus.Observer
}

// observe counts one of d seconds.
func (o *operations) observe(labels [5]string, d float64) {
	o.mu.RLock()
	series := o.known[labels]
	o.mu.RUnlock()
	if series == nil {
		series = o.find(labels)
	}
	series.Observe(d)
}

func (o *operations) find(labels [5]string) prometheus.Observer {
	series := o.vec.WithLabelValues(labels[:]...)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[[5]string]prometheus.Observer{}
	}
	if len(o.known) < maxSeries {
		o.known[labels] = series
	}
	return series
}
