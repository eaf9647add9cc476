package stdio

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// errSilent: the process did not finish its handshake in time.
var errSilent = errors.New("no answer to initialize in time")

// exitTime is how long to wait for the exit status of a process that closed
// its output during the handshake.
const exitTime = 2 * time.Second

// explainStart words an error of the agent.
func explainStart(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return err // the caller's own clock
	}
	reason := config.ReasonAgentUnreachable
	var code *int
	switch agent.CodeOf(err) {
	case agent.CodeNotFound:
		reason, code = config.ReasonExited, ptr(127) // as a shell would say
	case agent.CodePermission, agent.CodeExec, agent.CodeCwd:
		reason, code = config.ReasonExited, ptr(126)
	}
	return &upstream.HandshakeError{Reason: reason, ExitCode: code, Err: err}
}

// explainHandshake words a handshake that failed.
func explainHandshake(err error, proc *process, talk *talk) error {
	out := &upstream.HandshakeError{Reason: config.ReasonBadHandshake, Err: err}
	switch peer.ReasonOf(err) {
	case peer.Ended:
		out.Reason = config.ReasonExited
		wait(proc.child.Done(), exitTime)
		exit := proc.exit()
		out.StderrTail = exit.StderrTail
		if exit.Err == nil && exit.Code >= 0 {
			out.ExitCode = &exit.Code
		}
	case peer.BadResponse, peer.TooLarge:
		out.Reason = config.ReasonBadOutput
	}
	if errors.Is(err, errSilent) {
		out.Reason = config.ReasonNoAnswer
		if talk.lines.Load() > 0 {
			out.Reason = config.ReasonBadOutput
		}
	}
	return out
}

// talk counts the lines that were no messages.
type talk struct {
	next  peer.Hooks
	lines atomic.Int64
}

func newTalk(next peer.Hooks) *talk { return &talk{next: next} }

func (t *talk) hooks() peer.Hooks {
	h := t.next
	h.Noise = func(excerpt string) {
		t.lines.Add(1)
		if t.next.Noise != nil {
			t.next.Noise(excerpt)
		}
	}
	return h
}

func ptr(n int) *int { return &n }
