package mcp

// Binding is what a revision travels on; the second axis of P17.
type Binding uint8

// The bindings.
const (
	Stdio Binding = iota
	Streamable
	HTTPSSE
)

// String names the binding as telemetry does.
func (b Binding) String() string {
	switch b {
	case Stdio:
		return "stdio"
	case Streamable:
		return "streamable"
	case HTTPSSE:
		return "http+sse"
	}
	return "unknown"
}

// Wire says how a revision behaves on a binding.
type Wire struct {
	// Served: the pair exists (P17).
	Served bool
	// Sessions: the binding carries a session id of its own.
	Sessions bool
	// EventIDs: events have ids and broken streams can be resumed (W9).
	EventIDs bool
	// Priming is the form of the first event of a stream with ids.
	Priming Priming
	// Retry: priming events say when to come back, and the server may close a
	// stream early (W8.8, W9.5). Only where there is priming.
	Retry bool
	// EarlyStream: tools/call becomes an event stream soon, so that a dropped
	// connection leaves an id to resume by (P4).
	EarlyStream bool
	// VersionHeader: requests after initialize name their revision in a
	// header (W11.1).
	VersionHeader bool
	// MirrorHeaders: the envelope is repeated in headers that must agree with
	// the body (W15).
	MirrorHeaders bool
	// PinnedStatus: some errors have an HTTP status of their own; otherwise
	// errors travel in a 200 (W16.4).
	PinnedStatus bool
	// DisconnectCancels: closing the response stream cancels the request
	// (W14.10, W8.10).
	DisconnectCancels bool
	// CancelNotification: clients cancel by notification.
	CancelNotification bool
}

// On says how the revision behaves on a binding.
func (p Profile) On(b Binding) Wire {
	switch b {
	case Stdio:
		return Wire{Served: true, CancelNotification: true}
	case HTTPSSE:
		return Wire{Served: p.Handshake, Sessions: p.Handshake, CancelNotification: true}
	case Streamable:
		if !p.Handshake {
			return Wire{Served: true, MirrorHeaders: true, PinnedStatus: true, DisconnectCancels: true}
		}
		w := Wire{Served: true, Sessions: true, EventIDs: true, Priming: PrimeNamed, CancelNotification: true}
		w.VersionHeader = p.index >= indexOf(Revision20250618)
		if p.index >= indexOf(Revision20251125) {
			w.Priming, w.Retry, w.EarlyStream = PrimeEmpty, true, true
		}
		return w
	}
	return Wire{}
}

func indexOf(revision string) int {
	p, _ := Lookup(revision)
	return p.index
}
