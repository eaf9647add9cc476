package hook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// The ways in which Ask fails; errors.Is tells them apart.
var (
	// ErrUnreachable: no sidecar listens. Nothing is drained.
	ErrUnreachable = errors.New("the sidecar does not listen")
	// ErrGone: the sidecar was there and went away before it was drained.
	ErrGone = errors.New("the sidecar ended before the drain did")
	// ErrDeadline: ctx ended first.
	ErrDeadline = errors.New("the drain did not end in time")
	// ErrRefused: the sidecar does not take this hook from us.
	ErrRefused = errors.New("the sidecar refuses the hook")
)

// Ask runs the hook of kind against the sidecar that listens at path, and
// returns when the kubelet may go on: OutcomeDrained or OutcomeRestart, or an
// error of those above. ctx bounds the wait; its deadline is the caller's
// (O3: propagation and drain, so that no hook runs into the grace).
func Ask(ctx context.Context, path string, kind Kind) (Outcome, error) {
	if err := socket.CheckPath(path); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	conn := c.(*net.UnixConn)
	defer conn.Close()
	if kind == KindSidecar {
		// The directory is the workload's too: it could have put a socket of
		// its own here, and a drain that it answers is none.
		if peer, err := socket.PeerOf(conn); err != nil || peer.UID != os.Getuid() {
			return "", fmt.Errorf("%w: %s belongs to another user", ErrUnreachable, path)
		}
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	_, werr := conn.Write([]byte(request(kind) + "\n")) // a refusal may have come before it
	line, err := readLine(conn)
	switch {
	case ctx.Err() != nil:
		return "", ErrDeadline
	case err != nil && werr != nil:
		return "", fmt.Errorf("%w: %w", ErrGone, werr)
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrGone, err)
	}
	for _, outcome := range []Outcome{OutcomeDrained, OutcomeRestart} {
		if line == answer(outcome) {
			return outcome, nil
		}
	}
	return "", fmt.Errorf("%w: %.*q", ErrRefused, maxLine, line)
}
