package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/machine"
)

// Patience of Down with what ends by itself.
const (
	politeTimeout = 3 * time.Second
	endTimeout    = 20 * time.Second
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
	if err := h.cleanup(); err != nil {
		return err
	}
	left, err := h.Leftovers(r)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("left behind: %w", errors.Join(left...))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	h.phase("down", start)
	fmt.Fprintf(h.Log, "cluster %s: nothing left: no process, mount, control group or interface (logs: %s)\n", h.Name, h.LogDir())
	return nil
}

// cleanup ends a node, alive or not, and removes what belongs to it. It is safe
// to repeat.
func (h Host) cleanup() error {
	r, err := h.LoadRecord()
	if err != nil && !errors.Is(err, instance.ErrNoRecord) {
		return err
	}
	if err == nil {
		if err := endGuests(r); err != nil {
			return err
		}
		if err := endNode(r); err != nil {
			return err
		}
	}
	if err := machine.RemoveCgroup(h.Cgroup(), endTimeout); err != nil {
		return err
	}
	entries, err := os.ReadDir(h.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == "log" || e.Name() == "audit" || e.Name() == "node.json" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(h.Dir, e.Name())); err != nil {
			return err
		}
	}
	return h.ForgetRecord()
}

// endNode kills the first process; the kernel then kills all others in its pid
// namespace, before that one counts as ended.
func endNode(r instance.Record) error {
	if !r.Alive() {
		return nil
	}
	if err := syscall.Kill(r.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	for deadline := time.Now().Add(endTimeout); r.Alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("the node's first process %d does not end", r.PID)
		}
	}
	return nil
}

// endGuests ends programs that `cluster exec` brought into the node's network:
// they would keep it alive. The caller may itself be one; it is spared.
func endGuests(r instance.Record) error {
	spare := machine.Ancestors(os.Getpid())
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for deadline := time.Now().Add(politeTimeout); ; time.Sleep(20 * time.Millisecond) {
			guests, err := guests(r, spare)
			if err != nil || len(guests) == 0 {
				return err
			}
			for _, p := range guests {
				_ = syscall.Kill(p.PID, sig)
			}
			if time.Now().After(deadline) {
				break
			}
		}
	}
	return errors.New("programs in the node's network do not end")
}

// guests are the processes in the node's network but not in its pid namespace.
func guests(r instance.Record, spare []int) ([]machine.Process, error) {
	in, err := machine.ProcessesIn(map[string]string{"net": r.Namespaces["net"]})
	if err != nil {
		return nil, err
	}
	own, err := machine.ProcessesIn(map[string]string{"pid": r.Namespaces["pid"]})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(in, func(p machine.Process) bool {
		return slices.Contains(spare, p.PID) || slices.ContainsFunc(own, func(o machine.Process) bool { return o.PID == p.PID })
	}), nil
}

// Leftovers returns one error for each thing of an ended node that is still
// there.
func (h Host) Leftovers(r instance.Record) ([]error, error) {
	var left []error
	processes, err := machine.ProcessesIn(r.Namespaces)
	if err != nil {
		return nil, err
	}
	spare := machine.Ancestors(os.Getpid())
	for _, p := range processes {
		if !slices.Contains(spare, p.PID) {
			left = append(left, fmt.Errorf("process %d in its %s namespace: %s", p.PID, p.Kind, p.Command))
		}
	}
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
