package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/hook"
)

// Exit statuses of hook beside 0 and 2. The kubelet shows them, with what we
// write to stderr, in a FailedPreStopHook event.
const (
	exitUnreachable = 1
	exitGone        = 3
	exitDeadline    = 4
	exitRefused     = 5
)

func preStop(args []string, stderr io.Writer) int {
	kind := hook.KindUnknown
	if len(args) > 0 && (args[0] == string(hook.KindSidecar) || args[0] == string(hook.KindWorkload)) {
		kind, args = hook.Kind(args[0]), args[1:]
	}
	fs := newFlags("hook workload|sidecar", stderr)
	path := fs.String("socket", defaultHookSocket, "unix socket of the sidecar")
	deadline := fs.Duration("deadline", 0, "how long to wait for the drain (required)")
	if status, ok := parse(fs, args); !ok {
		return status
	}
	switch {
	case kind == hook.KindUnknown || fs.NArg() > 0:
		return fail(stderr, exitUsage, "hook needs `workload` or `sidecar` first, then flags")
	case *deadline <= 0:
		return fail(stderr, exitUsage, "hook needs --deadline, e.g. 35s")
	}
	ctx, cancel := context.WithTimeout(context.Background(), *deadline)
	defer cancel()
	start := time.Now()
	_, err := hook.Ask(ctx, *path, kind)
	took := time.Since(start).Round(time.Millisecond)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, hook.ErrUnreachable):
		return fail(stderr, exitUnreachable, "%s hook: nothing is drained: %v", kind, err)
	case errors.Is(err, hook.ErrGone):
		return fail(stderr, exitGone, "%s hook: after %v: %v; calls in flight may be lost", kind, took, err)
	case errors.Is(err, hook.ErrDeadline):
		return fail(stderr, exitDeadline, "%s hook: calls are still in flight after %v and will be cut", kind, took)
	}
	return fail(stderr, exitRefused, "%s hook: %v", kind, err)
}
