package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/machine"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/nodeconf"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/pki"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/supervisor"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/tools"
)

// UpTimeout bounds the start of a node whose binaries are there.
const UpTimeout = 3 * time.Minute

// Up starts the cluster and returns when its node is Ready and runs pods. A
// running cluster is left as it is; what a killed one left is removed first.
func (h Host) Up(ctx context.Context) error {
	begin := time.Now()
	if _, err := h.Running(); err == nil {
		err := h.waitReady(ctx, begin)
		if !errors.Is(err, ErrNotRunning) {
			fmt.Fprintf(h.Log, "cluster %s: runs already\n", h.Name)
			return err
		}
		// It was on its way out: start anew.
	}
	if err := machine.CheckKernel(); err != nil {
		return err
	}
	set, err := h.Build(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := h.prepare(set); err != nil {
		return err
	}
	h.phase("state, certificates", start)
	if err := h.start(set); err != nil {
		left, cleanup := h.cleanup()
		return errors.Join(append(left, err, cleanup)...)
	}
	if err := h.waitReady(ctx, time.Now()); err != nil {
		return fmt.Errorf("%w\nlogs: %s (the cluster is left as it is; `make cluster-down` removes it)", err, h.LogDir())
	}
	start = time.Now()
	if err := h.importPause(ctx); err != nil {
		return err
	}
	h.phase("sandbox image", start)
	h.phase("up", begin)
	return nil
}

// Build makes or finds the binaries, with what Debian packages that takes.
func (h Host) Build(ctx context.Context, want ...string) (tools.Set, error) {
	set, err := tools.Find(h.Repo, h.Cache)
	if err != nil {
		return set, err
	}
	if len(set.Missing(want...)) > 0 {
		start := time.Now()
		if len(want) == 0 { // runc is among them
			if err := machine.EnsureBuild(ctx, h.Log); err != nil {
				return set, err
			}
		}
		if err := set.Build(ctx, h.Log, want...); err != nil {
			return set, err
		}
		h.phase("tools built", start)
	}
	if len(want) == 0 {
		if err := machine.EnsureRun(ctx, h.Log); err != nil {
			return set, err
		}
	}
	return set, nil
}

// prepare makes the state folder anew, with certificates and configuration.
func (h Host) prepare(set tools.Set) error {
	left, err := h.cleanup()
	if err = errors.Join(append(left, err)...); err != nil {
		return fmt.Errorf("remains of an earlier run: %w", err)
	}
	if err := os.RemoveAll(h.Dir); err != nil {
		return err
	}
	for _, dir := range []string{"", "log", "audit"} {
		if err := os.MkdirAll(h.Path(dir), 0o755); err != nil {
			return err
		}
	}
	err = pki.Write(h.Path("pki"), pki.Params{
		ContextName: h.NodeName(), Server: instance.APIServer,
		NodeName: h.NodeName(), NodeIP: instance.NodeIP, ServiceIP: instance.ServiceIP,
	})
	if err != nil {
		return err
	}
	snapshotter, err := snapshotter(h.Dir)
	if err != nil {
		return err
	}
	if err := nodeconf.For(h.Instance, set.Dir, snapshotter).Write(); err != nil {
		return err
	}
	return machine.CreateCgroup(h.Cgroup())
}

// snapshotter is overlayfs, except on a file system that is itself an overlay,
// where it cannot lie.
func snapshotter(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	if st.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native", nil
	}
	return "overlayfs", nil
}

// start runs a copy of this program as first process of new namespaces.
func (h Host) start(set tools.Set) error {
	interfaces, err := machine.Interfaces()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	// A copy: the program may be rebuilt while the node runs.
	bin := h.Path("bin", "cluster")
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(bin, program, 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(h.LogDir(), "node.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	// Descriptors that this process inherited (of make, of a test) end here.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	cmd := exec.Command(bin, "node-init", "--name", h.Name, "--repo", h.Repo, "--cache", h.Cache, "--tools", set.Dir)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	r, err := instance.NewRecord(cmd.Process.Pid, set.Dir)
	if err != nil {
		return fmt.Errorf("the node ended at once, see %s: %w", log.Name(), err)
	}
	r.Interfaces = interfaces
	if err := h.SaveRecord(r); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// waitReady tells as components become ready, until all are.
func (h Host) waitReady(ctx context.Context, start time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, UpTimeout)
	defer cancel()
	told := map[string]bool{}
	for {
		control, err := h.Control()
		if err != nil {
			return fmt.Errorf("the node ended: %w", err)
		}
		units, err := control.Units(ctx)
		if err == nil {
			waiting := pending(units)
			for _, u := range units {
				if u.State == supervisor.Ready && !told[u.Name] {
					told[u.Name] = true
					h.phase(u.Name, start)
				}
			}
			if len(waiting) == 0 {
				return nil
			}
			err = errors.New(strings.Join(waiting, "; "))
		}
		if sleep(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("not ready after %s: %w", UpTimeout, err)
		}
	}
}

// pending says of each component that is not ready why. Held ones do not count:
// somebody wants them so.
func pending(units []supervisor.Status) []string {
	var out []string
	for _, u := range units {
		if u.State != supervisor.Ready && u.State != supervisor.Held {
			out = append(out, strings.TrimRight(fmt.Sprintf("%s is %s, started %d times: %s %s", u.Name, u.State, u.Starts, u.NotReady, u.LastExit), ": "))
		}
	}
	return out
}
