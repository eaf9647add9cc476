// Package command is the command line of the local cluster.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/external"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/host"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/machine"
)

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:   "cluster",
		Short: "A real single-node Kubernetes in namespaces of its own",
		Long: `A real single-node Kubernetes in namespaces of its own.

FAIRLEAD_CLUSTER names the cluster (default "dev"); several can run side by side.
FAIRLEAD_CACHE is where binaries and state are kept (default .cache in the source tree).
With KUBECONFIG set to a cluster of your own nothing is started: up checks it,
load uses kind. See docs/local-cluster.md.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(
		buildCommand(), assetsCommand(), upCommand(), downCommand(), statusCommand(), envCommand(),
		execCommand(), kubectlCommand(), loadCommand(), registryCommand(),
		actionCommand("hold", "Stop a component (kill -9) and keep it stopped"),
		actionCommand("release", "Start a held component and wait until it is ready"),
		actionCommand("restart", "Kill a component and wait until it is ready again"),
		nodeInitCommand(), nodeRunCommand(), registryServeCommand(),
	)
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	return 0
}

func find() (host.Host, error) {
	i, err := instance.Find()
	return host.Host{Instance: i, Log: os.Stderr}, err
}

// withHost runs ours, or theirs when KUBECONFIG names a foreign cluster.
func withHost(ours func(host.Host) error, theirs func(external.Cluster) error) error {
	h, err := find()
	if err != nil {
		return err
	}
	if c, ok := external.Find(h.Cache); ok {
		return theirs(c)
	}
	return ours(h)
}

// locked keeps two starts or stops of one cluster from meeting.
func locked(h host.Host, do func() error) error {
	if err := machine.CheckRoot(); err != nil {
		return err
	}
	dir := filepath.Dir(h.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "."+h.Name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return do()
}

var errForeign = errors.New("not for a cluster that KUBECONFIG names; unset KUBECONFIG")

func foreign(external.Cluster) error { return errForeign }
