package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/machine"
)

// Patience with what ends by itself.
const (
	politeTimeout = 3 * time.Second
	endTimeout    = 20 * time.Second
)

// stop ends the programs that were brought into the node, then the node, and
// returns one error for each process that is still in its namespaces.
func (h Host) stop(r instance.Record) ([]error, error) {
	held, err := r.Hold()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	m := membership{record: r, certain: held != nil, marker: "KUBECONFIG=" + h.Kubeconfig(), spare: machine.Ancestors(os.Getpid())}
	if err := m.endGuests(); err != nil {
		return nil, err
	}
	if err := endNode(r); err != nil {
		return nil, err
	}
	processes, err := m.lastOnes()
	var left []error
	for _, p := range processes {
		left = append(left, fmt.Errorf("process %d in its %s namespace: %s", p.PID, p.Kind, p.Command))
	}
	return left, err
}

// membership tells the processes of a node from others.
type membership struct {
	record instance.Record
	// certain: its namespaces are held, so whoever is in one belongs to it. Else
	// their ids may be another's by now, and only who carries the marker counts.
	certain bool
	marker  string // a variable that every program in the node was started with
	spare   []int  // the caller and its parents: they may be in there themselves
}

// processes lists those in any of the node's namespaces of these kinds.
func (m membership) processes(kinds ...string) ([]machine.Process, error) {
	namespaces := map[string]string{}
	for _, k := range kinds {
		namespaces[k] = m.record.Namespaces[k]
	}
	in, err := machine.ProcessesIn(namespaces)
	return slices.DeleteFunc(in, func(p machine.Process) bool {
		return slices.Contains(m.spare, p.PID) || !m.certain && !p.HasEnv(m.marker)
	}), err
}

// lastOnes waits for the node's processes to end, and returns those that do not.
// The first process is no measure: it shows as ended when its main thread has,
// while another of its threads still waits for the rest.
func (m membership) lastOnes() ([]machine.Process, error) {
	kinds := slices.Collect(maps.Keys(m.record.Namespaces))
	for deadline := time.Now().Add(endTimeout); ; time.Sleep(10 * time.Millisecond) {
		left, err := m.processes(kinds...)
		if err != nil || len(left) == 0 || time.Now().After(deadline) {
			return left, err
		}
	}
}

// guests are the processes in the node's network but not in its pid namespace:
// those that `cluster exec` brought.
func (m membership) guests() ([]machine.Process, error) {
	in, err := m.processes("net")
	if err != nil {
		return nil, err
	}
	own, err := m.processes("pid")
	return slices.DeleteFunc(in, func(p machine.Process) bool {
		return slices.ContainsFunc(own, func(o machine.Process) bool { return o.PID == p.PID })
	}), err
}

// endGuests ends the guests: they would keep the node's network alive.
func (m membership) endGuests() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for deadline := time.Now().Add(politeTimeout); ; time.Sleep(20 * time.Millisecond) {
			guests, err := m.guests()
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

// endNode kills the first process; the kernel then kills all others in its pid
// namespace.
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
