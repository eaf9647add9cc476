package observe

import "github.com/prometheus/client_golang/prometheus"

const (
	rememberedName = "fairlead_remembered"
	rememberedHelp = "Entries of what is kept because it is likely to be wanted again, by what it is; every kind is bounded."
)

// remembered asks at each scrape how much is remembered, by what it is.
type remembered struct {
	desc *prometheus.Desc
	ask  func() map[string]int // nil: nothing
}

func newRemembered(ask func() map[string]int) *remembered {
	return &remembered{desc: prometheus.NewDesc(rememberedName, rememberedHelp, []string{"kind"}, nil), ask: ask}
}

// Describe implements prometheus.Collector.
func (r *remembered) Describe(c chan<- *prometheus.Desc) { c <- r.desc }

// Collect implements prometheus.Collector.
func (r *remembered) Collect(c chan<- prometheus.Metric) {
	if r.ask == nil {
		return
	}
	for kind, n := range r.ask() {
		c <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, float64(n), kind)
	}
}
