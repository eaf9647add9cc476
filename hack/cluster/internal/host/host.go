// Package host starts and ends a cluster's node from the machine's side, enters
// it, and loads images into it. What happens inside is package node's business.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/supervisor"
)

// Host is one cluster with the place that progress is told to.
type Host struct {
	instance.Instance
	Log io.Writer
}

// ErrNotRunning: the cluster is not up.
var ErrNotRunning = errors.New("cluster is not running")

// Running returns the record of a live node.
func (h Host) Running() (instance.Record, error) {
	r, err := h.LoadRecord()
	if errors.Is(err, instance.ErrNoRecord) || err == nil && !r.Alive() {
		return r, fmt.Errorf("%w: start %q with `make cluster-up`", ErrNotRunning, h.Name)
	}
	return r, err
}

// Control returns a client for the supervisor of a live node.
func (h Host) Control() (*supervisor.Client, error) {
	r, err := h.Running()
	if err != nil {
		return nil, err
	}
	return supervisor.NewClient(r.Root(instance.ControlSocket)), nil
}

// phase prints how long a step took.
func (h Host) phase(name string, start time.Time) {
	fmt.Fprintf(h.Log, "cluster %s: %-28s %5.1f s\n", h.Name, name, time.Since(start).Seconds())
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
