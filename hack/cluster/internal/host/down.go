package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/machine"
)

// Down ends the cluster and everything in it, keeps only logs and the audit log,
// and returns an error that lists whatever is left.
func (h Host) Down(ctx context.Context) error {
	start := time.Now()
	r, err := h.LoadRecord()
	if errors.Is(err, instance.ErrNoRecord) {
		fmt.Fprintf(h.Log, "cluster %s: is not running\n", h.Name)
	} else if err != nil {
		return err
	}
	left, err := h.cleanup()
	if err != nil {
		return err
	}
	other, err := h.traces(r)
	if err != nil {
		return err
	}
	if left = append(left, other...); len(left) > 0 {
		return fmt.Errorf("left behind: %w", errors.Join(left...))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	h.phase("down", start)
	fmt.Fprintf(h.Log, "cluster %s: nothing left: no process, mount, control group or interface (logs: %s)\n", h.Name, h.LogDir())
	return nil
}

// cleanup ends a node, alive or not, removes what belongs to it, and returns one
// error for each process that outlived it. It is safe to repeat.
func (h Host) cleanup() ([]error, error) {
	r, err := h.LoadRecord()
	if err != nil && !errors.Is(err, instance.ErrNoRecord) {
		return nil, err
	}
	var left []error
	if err == nil {
		if left, err = h.stop(r); err != nil {
			return left, err
		}
	}
	if err := machine.RemoveCgroup(h.Cgroup(), endTimeout); err != nil {
		return left, err
	}
	entries, err := os.ReadDir(h.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return left, err
	}
	for _, e := range entries {
		if e.Name() == "log" || e.Name() == "audit" || e.Name() == "node.json" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(h.Dir, e.Name())); err != nil {
			return left, err
		}
	}
	return left, h.ForgetRecord()
}

// traces returns one error for each mount, control group and interface of an
// ended node that is still there.
func (h Host) traces(r instance.Record) ([]error, error) {
	var left []error
	mounts, err := machine.MountsBelow(h.Dir)
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		left = append(left, fmt.Errorf("mount %s", m))
	}
	cgroups, err := machine.Cgroups(h.Cgroup())
	if err != nil {
		return nil, err
	}
	for _, c := range cgroups {
		left = append(left, fmt.Errorf("control group %s", c))
	}
	interfaces, err := machine.Interfaces()
	if err != nil {
		return nil, err
	}
	for _, n := range interfaces {
		if (n == "node0" || n == "node0p" || n == "cni0") && len(r.Interfaces) > 0 && !slices.Contains(r.Interfaces, n) {
			left = append(left, fmt.Errorf("interface %s", n))
		}
	}
	return left, nil
}
