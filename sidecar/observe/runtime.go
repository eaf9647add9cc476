package observe

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Front observes the server that faces the clients. log may be nil; it is told
// how each operation ended.
func (m *Metrics) Front(log *AccessLog) *hook.Observer {
	return &hook.Observer{
		OperationStarted: func(hook.Operation) {
			m.busy.add(+1)
		},
		OperationEnded: func(op hook.Operation, end hook.End) {
			m.busy.add(-1)
			m.serverEnded(op, end)
			log.operation(op, end)
		},
		SessionEnded: func(s hook.Session, end hook.SessionEnd) {
			m.serverSession.WithLabelValues(revision(s.Revision), transport(s.Binding), string(end.Reason)).Observe(end.Duration.Seconds())
		},
		StreamOpened: func(k hook.StreamKind) { m.activeStreams.WithLabelValues(string(k)).Inc() },
		StreamClosed: func(k hook.StreamKind, end hook.StreamEnd) {
			m.activeStreams.WithLabelValues(string(k)).Dec()
			m.streamEnds.WithLabelValues(string(k), string(end)).Inc()
		},
		Rejected: func(r hook.Reason) { m.rejected.WithLabelValues(string(r)).Inc() },
		Buffered: func(delta int64) { m.buffered.Add(float64(delta)) },
		Replayed: func(r hook.Replay) { m.replays.WithLabelValues(string(r)).Inc() },
		Dropped:  func(d hook.Drop) { m.dropped.WithLabelValues(string(d)).Inc() },
		Queued:   func(delta int) { m.queuedRequests.Add(float64(delta)) },
		Panicked: func(value any, stack []byte) {
			m.panics.Inc()
			log.panicked(value, stack)
		},
	}
}

func (m *Metrics) serverEnded(op hook.Operation, end hook.End) {
	labels := m.operation(op, end.ErrorType)
	if tool := &labels[len(labels)-1]; *tool == other && end.ErrorType == "" {
		m.Tools.Learn(op.Tool) // the workload has answered to it
		*tool = m.Tools.label(op.Tool)
	}
	m.serverOperation.observe(labels, end.Duration)
}

// ClientOperation counts a request of the sidecar to its workload.
func (m *Metrics) ClientOperation(op hook.Operation, end hook.End) {
	m.clientOperation.observe(m.operation(op, end.ErrorType), end.Duration)
}

// operation are the label values of an operation, in the order of the labels.
func (m *Metrics) operation(op hook.Operation, failure string) [5]string {
	return [...]string{method(op.Method), revision(op.Revision), transport(op.Binding), errorType(failure), m.Tools.label(op.Tool)}
}

// Reject counts a refusal that the runtime does not make itself.
func (m *Metrics) Reject(r hook.Reason) { m.rejected.WithLabelValues(string(r)).Inc() }

// Panicked counts a panic outside an operation.
func (m *Metrics) Panicked() { m.panics.Inc() }

// Workload notes where the workload stands.
func (m *Metrics) Workload(s config.WorkloadStatus) {
	m.upstreamUp.Set(flag(s.State == config.WorkloadUp))
	m.exposed.Set(flag(s.Exposed))
	if s.State == config.WorkloadFailed {
		m.handshakes.WithLabelValues(s.Reason).Inc()
	}
}

// WorkloadDropped counts a message of the workload that was thrown away;
// reason is a constant of the reporting package.
func (m *Metrics) WorkloadDropped(reason string) { m.workloadDrops.WithLabelValues(reason).Inc() }

// Attributed counts a request of the workload by what its attribution took.
func (m *Metrics) Attributed(how string) { m.attributions.WithLabelValues(how).Inc() }

// Parked counts calls that wait for their clients, up and down.
func (m *Metrics) Parked(delta int) { m.parked.Add(float64(delta)) }

// ParkedEnded counts how the waiting for a client ended.
func (m *Metrics) ParkedEnded(how string) { m.parkedEnds.WithLabelValues(how).Inc() }

// ProcessStarted counts a start of a process; reason is empty for success, or
// one of config's.
func (m *Metrics) ProcessStarted(took time.Duration, reason string) {
	m.processStarts.WithLabelValues(reason).Observe(took.Seconds())
}

// ProcessStreams counts a process by the way of its streams.
func (m *Metrics) ProcessStreams(relayed bool) {
	way := "descriptors"
	if relayed {
		way = "relay"
		m.relayed.Store(true)
	}
	m.streamWays.WithLabelValues(way).Inc()
}

// Relayed reports whether ProcessStreams was told of relayed ones.
func (m *Metrics) Relayed() bool { return m.relayed.Load() }

// ProcessEnded counts the end of a process; reason is a constant of
// sidecar/upstream/stdio.
func (m *Metrics) ProcessEnded(reason string) { m.processEnds.WithLabelValues(reason).Inc() }

// SessionRenewed counts a session with the workload that was opened again, or
// could not be.
func (m *Metrics) SessionRenewed(ok bool) {
	result := "failed"
	if ok {
		result = "renewed"
	}
	m.renewals.WithLabelValues(result).Inc()
}

// ProcessRecreated counts a process that was started again for those who
// outlived the last one.
func (m *Metrics) ProcessRecreated(ok bool) {
	result := "failed"
	if ok {
		result = "recreated"
	}
	m.recreations.WithLabelValues(result).Inc()
}

// Repaired counts an answer that had to be made valid; kind is a constant of
// sidecar/proxy/repair.
func (m *Metrics) Repaired(kind string) { m.repairs.WithLabelValues(kind).Inc() }

// Draining notes that a drain has begun.
func (m *Metrics) Draining() { m.draining.Set(1) }

// LiveError counts a live contract that cannot be used.
func (m *Metrics) LiveError() { m.liveErrors.Inc() }

// KeyError counts a key Secret that cannot be used.
func (m *Metrics) KeyError() { m.keyErrors.Inc() }

// Hook counts a preStop hook; both words are constants of sidecar/hook.
func (m *Metrics) Hook(kind, outcome string) { m.hooks.WithLabelValues(kind, outcome).Inc() }

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// millis is a duration as logs show it.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
