package observe

import (
	"regexp"
	"runtime"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// seconds are the buckets that OpenTelemetry advises for MCP durations.
var seconds = [...]float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// liveBytes is what the last collection left.
var liveBytes = regexp.MustCompile("^/gc/heap/live:bytes$")

// Sources are asked at each scrape. A nil one is not there, and neither is its
// metric's value.
type Sources struct {
	Sessions    func() int
	Processes   func() int
	Spares      func() int
	InFlight    func() int
	Held        func() int
	Connections func() int
	HeapFloor   func() int
	// Remembered is how much is, by what it is.
	Remembered func() map[string]int
}

// Metrics are all metrics of a sidecar, with a registry of their own. Make
// them with New. All methods may be called concurrently.
type Metrics struct {
	// Tools bounds the tool names that become labels.
	Tools Tools

	catalogue catalogue

	serverOperation, clientOperation            operations
	serverSession                               *prometheus.HistogramVec
	queuedRequests                              prometheus.Gauge
	busy                                        *busy
	activeStreams, tasks                        *prometheus.GaugeVec
	tasksRefused                                *prometheus.CounterVec
	buffered                                    prometheus.Gauge
	rejected, streamEnds, replays, dropped      *prometheus.CounterVec
	handshakes, hooks, workloadDrops            *prometheus.CounterVec
	attributions, parkedEnds                    *prometheus.CounterVec
	parked                                      prometheus.Gauge
	processEnds, repairs, renewals, recreations *prometheus.CounterVec
	processStarts                               *prometheus.HistogramVec
	streamWays                                  *prometheus.CounterVec
	relayed                                     atomic.Bool
	panics, liveErrors, keyErrors               prometheus.Counter
	upstreamUp, exposed, draining               prometheus.Gauge
}

// New makes the metrics of a process that calls itself version.
func New(version string, s Sources) *Metrics {
	m := &Metrics{catalogue: catalogue{registry: prometheus.NewRegistry()}}
	m.operations()
	m.traffic(s)
	m.process(version)
	m.prime()
	m.catalogue.registry.MustRegister(
		// Live bytes tell a leak from garbage that has not been collected yet.
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveBytes})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Gatherer gives the registry to a handler.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.catalogue.registry }

// Docs describes all metrics, sorted by name; those of the Go collectors are
// not ours to describe.
func (m *Metrics) Docs() []Doc { return m.catalogue.sorted() }

func (m *Metrics) operations() {
	c := &m.catalogue
	labels := []string{"mcp_method_name", "mcp_protocol_version", "network_transport", "error_type", "gen_ai_tool_name"}
	c.operations(&m.serverOperation, "mcp_server_operation_duration_seconds",
		"Requests of clients, from arrival to the answer. error_type is empty for success; gen_ai_tool_name is _OTHER for tools that the workload has not listed.", labels)
	c.operations(&m.clientOperation, "mcp_client_operation_duration_seconds",
		"Requests of the sidecar to its workload, from writing to the answer.", labels)
	m.serverSession = c.histogram("mcp_server_session_duration_seconds",
		"Sessions of clients, from initialize to their end. fairlead_end_reason says why they ended.", seconds[:],
		"mcp_protocol_version", "network_transport", "fairlead_end_reason")
	m.queuedRequests = c.gauge("fairlead_queued_requests", "Requests of clients that wait for their turn.").WithLabelValues()
	m.busy = newBusy()
	c.note("counter", busyName, busyHelp, nil)
	c.registry.MustRegister(m.busy)
	c.gaugeFunc("fairlead_active_requests", "Requests of clients that are being worked on or wait for their turn.", func() float64 { return float64(m.busy.now()) })
}

func (m *Metrics) traffic(s Sources) {
	c := &m.catalogue
	c.note("gauge", rememberedName, rememberedHelp, []string{"kind"})
	c.registry.MustRegister(newRemembered(s.Remembered))
	m.activeStreams = c.gauge("fairlead_active_streams", "Event streams that are open to clients, by what they are for.", "kind")
	m.tasks = c.gauge("fairlead_tasks", "Tasks of clients that are kept, by status.", "status")
	m.tasksRefused = c.counter("fairlead_tasks_refused_total", "Tasks that were not made, by why.", "reason")
	m.buffered = c.gauge("fairlead_buffered_bytes", "Bytes held in streams and request bodies.").WithLabelValues()
	m.rejected = c.counter("fairlead_rejected_total", "Requests that were refused before they became an operation.", "reason")
	m.streamEnds = c.counter("fairlead_stream_ends_total", "Event streams that ended, by what they were for and why.", "kind", "reason")
	m.replays = c.counter("fairlead_replays_total", "Attempts of clients to resume a stream.", "result")
	m.dropped = c.counter("fairlead_messages_dropped_total", "Messages for clients that nobody will get.", "reason")
	m.workloadDrops = c.counter("fairlead_workload_messages_dropped_total", "Messages of the workload that were thrown away.", "reason")
	m.attributions = c.counter("fairlead_attributions_total", "Requests of the workload during calls of clients without sessions, by what it took to find out whose they were.", "result")
	m.parked = c.gauge("fairlead_parked_calls", "Calls of the workload whose clients are to come back with answers.").WithLabelValues()
	m.parkedEnds = c.counter("fairlead_parked_calls_total", "Calls that had to wait for their clients' answers, by how that ended; repeated counts lost retries that came again.", "result")
	for _, g := range []struct {
		name, help string
		value      func() int
	}{
		{"fairlead_active_sessions", "Sessions of clients.", s.Sessions},
		{"fairlead_processes", "Processes of the workload that the sidecar has started and that run.", s.Processes},
		{"fairlead_spare_processes", "Processes of the workload that wait for their first client (processModel Pooled).", s.Spares},
		{"fairlead_http_requests_in_flight", "HTTP requests on the public port, streams included.", s.InFlight},
		{"fairlead_held_requests", "Requests that wait for the workload to come back.", s.Held},
		{"fairlead_http_connections", "Connections on the public port.", s.Connections},
		{"fairlead_heap_floor_bytes", "Bytes of go_gc_heap_live_bytes that are reserved and never touched, so that collections are rare; they take no memory.", s.HeapFloor},
	} {
		value := g.value
		c.gaugeFunc(g.name, g.help, func() float64 {
			if value == nil {
				return 0
			}
			return float64(value())
		})
	}
}

func (m *Metrics) process(version string) {
	c := &m.catalogue
	m.upstreamUp = c.gauge("fairlead_upstream_up", "1 while the last handshake with the workload holds.").WithLabelValues()
	m.exposed = c.gauge("fairlead_upstream_exposed", "1 if the workload's own port answers on the pod's address.").WithLabelValues()
	m.draining = c.gauge("fairlead_draining", "1 once a drain has begun.").WithLabelValues()
	m.handshakes = c.counter("fairlead_handshake_failures_total", "Changes of the workload to not ready, by reason.", "reason")
	m.processStarts = c.histogram("fairlead_process_start_duration_seconds",
		"Starts of processes of the workload, up to the end of their handshake. reason is empty for success.", seconds[:], "reason")
	m.streamWays = c.counter("fairlead_process_streams_total", "Processes of the workload that were started, by the way of their streams: their pipes were passed (descriptors), or their bytes are copied because that cannot be (relay).", "way")
	m.processEnds = c.counter("fairlead_process_ends_total", "Processes of the workload that ended, by why.", "reason")
	m.renewals = c.counter("fairlead_upstream_session_renewals_total", "Sessions with the workload that it had forgotten and that were opened again.", "result")
	m.recreations = c.counter("fairlead_process_recreations_total", "Processes of the workload that were started again for sessions that outlived the last one.", "result")
	m.repairs = c.counter("fairlead_repairs_total", "Answers of the workload that had to be made valid for a client, by what was wrong.", "kind")
	m.hooks = c.counter("fairlead_hooks_total", "preStop hooks that were answered.", "kind", "outcome")
	m.panics = c.counter("fairlead_panics_total", "Panics that became an internal error. Any is a bug.").WithLabelValues()
	m.liveErrors = c.counter("fairlead_live_contract_errors_total", "Live contracts that could not be used; the last good one stays in force.").WithLabelValues()
	m.keyErrors = c.counter("fairlead_key_errors_total", "Contents of the key Secret that could not be used; the last good keys stay in use.").WithLabelValues()
	c.gauge("fairlead_build_info", "1, with what this process was built from.", "version", "goversion").
		WithLabelValues(version, runtime.Version()).Set(1)
}

// prime brings every series of a small closed set into being, so that rates
// and absences can be told apart.
func (m *Metrics) prime() {
	for _, r := range hook.Reasons() {
		m.rejected.WithLabelValues(string(r))
	}
	for _, k := range hook.StreamKinds() {
		m.activeStreams.WithLabelValues(string(k))
		for _, e := range hook.StreamEnds() {
			m.streamEnds.WithLabelValues(string(k), string(e))
		}
	}
	for _, r := range hook.Replays() {
		m.replays.WithLabelValues(string(r))
	}
	for _, d := range hook.Drops() {
		m.dropped.WithLabelValues(string(d))
	}
	for _, r := range hook.TaskRefusals() {
		m.tasksRefused.WithLabelValues(string(r))
	}
	for _, s := range taskStatuses() {
		m.tasks.WithLabelValues(s)
	}
	for _, r := range config.Reasons() {
		m.handshakes.WithLabelValues(r)
	}
}
