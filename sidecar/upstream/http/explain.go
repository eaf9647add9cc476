package http

import (
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// errSilent: the workload did not finish the handshake in time.
var errSilent = errors.New("no answer to the handshake in time")

// explain words a handshake that failed.
func explain(err error) error {
	reason := config.ReasonBadHandshake
	switch innermost(err) {
	case peer.Unreachable:
		reason = config.ReasonRefused
	case peer.Status, peer.Auth, peer.HostRefused, peer.Redirected, peer.SessionGone:
		reason = config.ReasonHTTPStatus
	case peer.BadResponse, peer.TooLarge, peer.Ended, peer.StreamLost:
		reason = config.ReasonBadOutput
	}
	if errors.Is(err, errSilent) {
		reason = config.ReasonNoAnswer
	}
	return &upstream.HandshakeError{Reason: reason, Err: err}
}

// innermost is the reason underneath: a session that could not be opened again
// because nobody listens is a workload where nobody listens.
func innermost(err error) (reason peer.Reason) {
	for f := new(peer.Failure); errors.As(err, &f); err = f.Err {
		reason = f.Reason
	}
	return reason
}
