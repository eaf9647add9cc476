// Package node is the inside of the cluster's node: what its first process sets
// up in the fresh namespaces, and the components that are then kept running. The
// outside (folders, control group, namespaces, this process) is made before.
package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

// Init is the first process of the node's pid namespace. It prepares mounts and
// network, starts the command line of the supervisor and reaps orphans until
// that ends; with it everything in the namespace ends.
func Init(i instance.Instance, supervisor []string) error {
	if os.Getpid() != 1 {
		return errors.New("not the first process of a pid namespace; use `cluster up`")
	}
	if err := prepareMounts(i); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := unix.Sethostname([]byte(i.NodeName())); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := prepareNetwork(); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	// The first process ignores signals that it has no handler for; a polite end is
	// as good as any here.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-stop; os.Exit(0) }()

	cmd := exec.Command(supervisor[0], supervisor[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		case pid == cmd.Process.Pid:
			return fmt.Errorf("the supervisor ended: exit %d, signal %d", status.ExitStatus(), status.Signal())
		}
	}
}
