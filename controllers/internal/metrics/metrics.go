// Package metrics holds the operator's own metrics, beside those of
// controller-runtime. The state of servers is collected from the cache when
// somebody scrapes, so that nothing has to be cleaned up after them.
package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
)

// scrapeTimeout bounds the read of the cache, which blocks until it is filled.
const scrapeTimeout = 2 * time.Second

// Metrics are the operator's metrics. Safe for concurrent use.
type Metrics struct {
	reader   client.Reader
	outcomes *prometheus.CounterVec
	info     *prometheus.Desc
	state    *prometheus.Desc
	ready    *prometheus.Desc
}

// New returns metrics over the servers that reader, a cache, holds.
func New(reader client.Reader) *Metrics {
	m := &Metrics{
		reader: reader,
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairlead_reconcile_failures_total",
			Help: "Reconciles that did not reach their end, by class: Invalid, Waiting, Conflict or Transient.",
		}, []string{"class"}),
		info: prometheus.NewDesc("fairlead_server_info",
			"1 for each McpServer; transport is how the sidecar reaches the workload, protocol the revision that the workload answered with.",
			[]string{"namespace", "name", "transport", "protocol"}, nil),
		state: prometheus.NewDesc("fairlead_server_condition",
			"1 for the status (True, False, Unknown) that each condition of each McpServer has now.",
			[]string{"namespace", "name", "type", "status"}, nil),
		ready: prometheus.NewDesc("fairlead_server_ready_replicas",
			"Pods of each McpServer that answer clients now.",
			[]string{"namespace", "name"}, nil),
	}
	for _, c := range []outcome.Class{outcome.Invalid, outcome.Waiting, outcome.Conflict, outcome.Transient} {
		m.outcomes.WithLabelValues(string(c))
	}
	return m
}

// Outcome counts a failure.
func (m *Metrics) Outcome(c outcome.Class) { m.outcomes.WithLabelValues(string(c)).Inc() }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.outcomes.Describe(ch)
	ch <- m.info
	ch <- m.state
	ch <- m.ready
}

// Collect implements prometheus.Collector. Servers are left out while the
// cache is not filled.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.outcomes.Collect(ch)
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	list := &v1alpha1.McpServerList{}
	if err := m.reader.List(ctx, list); err != nil {
		return
	}
	for i := range list.Items {
		s := &list.Items[i]
		gauge := func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{s.Namespace, s.Name}, labels...)...)
		}
		protocol := ""
		if s.Status.Server != nil {
			protocol = s.Status.Server.ProtocolVersion
		}
		gauge(m.info, 1, transport(s), protocol)
		for _, c := range s.Status.Conditions {
			gauge(m.state, 1, c.Type, string(c.Status))
		}
		if n := s.Status.ReadyReplicas; n != nil {
			gauge(m.ready, float64(*n))
		}
	}
}

func transport(s *v1alpha1.McpServer) string {
	if s.Spec.Workload.Type == v1alpha1.WorkloadStdio {
		return "stdio"
	}
	return "http"
}
