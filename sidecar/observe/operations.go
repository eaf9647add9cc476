package observe

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// maxSeries bounds the series that are found without asking the vector.
const maxSeries = 1024

// operations is a histogram of operations by their labels. The vector builds
// and hashes five labels for every look; each series is looked up there once.
type operations struct {
	vec *prometheus.HistogramVec

	known atomic.Pointer[map[[5]string]prometheus.Observer]
	mu    sync.Mutex // held while known is replaced
}

// observe counts one of d seconds.
func (o *operations) observe(labels [5]string, d float64) {
	if known := o.known.Load(); known != nil {
		if series := (*known)[labels]; series != nil {
			series.Observe(d)
			return
		}
	}
	o.find(labels).Observe(d)
}

func (o *operations) find(labels [5]string) prometheus.Observer {
	series := o.vec.WithLabelValues(labels[:]...)
	o.mu.Lock()
	defer o.mu.Unlock()
	next := map[[5]string]prometheus.Observer{}
	if known := o.known.Load(); known != nil {
		if len(*known) >= maxSeries {
			return series
		}
		maps.Copy(next, *known)
	}
	next[labels] = series
	o.known.Store(&next)
	return series
}
