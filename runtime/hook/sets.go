package hook

// The closed sets of this package, for observers that prepare a counter for
// each member.

// Reasons lists every Reason.
func Reasons() []Reason {
	return []Reason{
		RejectOrigin, RejectHost, RejectMethod, RejectMediaType, RejectAccept, RejectEncoding, RejectHeader,
		RejectHeaderMismatch, RejectTooLarge, RejectSlowBody, RejectJSON, RejectMessage, RejectRevision,
		RejectSession, RejectAuth, RejectSessionLimit, RejectStreamLimit, RejectListenLimit, RejectOverload, RejectDraining,
	}
}

// StreamKinds lists every StreamKind.
func StreamKinds() []StreamKind { return []StreamKind{StreamGet, StreamPost, StreamListen} }

// StreamEnds lists every StreamEnd.
func StreamEnds() []StreamEnd {
	return []StreamEnd{StreamDone, StreamGone, StreamReplaced, StreamOverflow, StreamDrained, StreamPolled}
}

// EndReasons lists every EndReason.
func EndReasons() []EndReason {
	return []EndReason{EndDeleted, EndIdle, EndHandshake, EndServer, EndShutdown, EndGone}
}

// Replays lists every Replay.
func Replays() []Replay { return []Replay{ReplayResumed, ReplayLost, ReplayUnknown} }

// Drops lists every Drop.
func Drops() []Drop {
	return []Drop{DropNoStream, DropEvicted, DropLate, DropNoChannel, DropOverflow, DropFlood, DropInbound}
}
