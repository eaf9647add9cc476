package observe

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Doc describes one metric.
type Doc struct {
	Name   string
	Type   string // counter, gauge, histogram
	Help   string
	Labels []string
}

// catalogue makes metrics, registers them and writes them down.
type catalogue struct {
	registry *prometheus.Registry
	docs     []Doc
}

func (c *catalogue) note(kind, name, help string, labels []string) {
	c.docs = append(c.docs, Doc{Name: name, Type: kind, Help: help, Labels: labels})
}

func (c *catalogue) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c.note("counter", name, help, labels)
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	c.registry.MustRegister(v)
	return v
}

func (c *catalogue) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	c.note("gauge", name, help, labels)
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	c.registry.MustRegister(v)
	return v
}

// gaugeFunc is a gauge whose value is asked for at each scrape.
func (c *catalogue) gaugeFunc(name, help string, value func() float64) {
	c.note("gauge", name, help, nil)
	c.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (c *catalogue) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	c.note("histogram", name, help, labels)
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	c.registry.MustRegister(v)
	return v
}

func (c *catalogue) operations(o *operations, name, help string, labels []string) {
	c.note("histogram", name, help, labels)
	o.desc = prometheus.NewDesc(name, help, labels, nil)
	c.registry.MustRegister(o)
}

func (c *catalogue) sorted() []Doc {
	docs := slices.Clone(c.docs)
	slices.SortFunc(docs, func(a, b Doc) int { return strings.Compare(a.Name, b.Name) })
	return docs
}
