// Package external is the small path for people who bring a cluster of their
// own: when KUBECONFIG names one, nothing is started or stopped. Only kind gets
// images loaded; elsewhere the images must come from a registry.
package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Cluster is one that KUBECONFIG names and that is not ours.
type Cluster struct {
	Kubeconfig string
}

// Find returns the cluster that KUBECONFIG names; false when it is unset or
// points into cache, where the kubeconfigs of our own clusters lie.
func Find(cache string) (Cluster, bool) {
	value := os.Getenv("KUBECONFIG")
	if value == "" {
		return Cluster{}, false
	}
	own := filepath.Join(cache, "cluster") + string(filepath.Separator)
	for _, path := range filepath.SplitList(value) {
		if abs, err := filepath.Abs(path); err == nil && strings.HasPrefix(abs, own) {
			return Cluster{}, false
		}
	}
	return Cluster{Kubeconfig: value}, true
}

// Check says whether its API server answers.
func (c Cluster) Check(ctx context.Context, log io.Writer) error {
	if _, err := c.kubectl(ctx, "get", "--raw", "/readyz", "--request-timeout=10s"); err != nil {
		return fmt.Errorf("KUBECONFIG=%s is set, but its cluster does not answer (unset it to get a local one): %w", c.Kubeconfig, err)
	}
	name, err := c.context(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "cluster: using context %q of KUBECONFIG=%s; nothing is started or stopped\n", name, c.Kubeconfig)
	return nil
}

// Load hands image archives to kind.
func (c Cluster) Load(ctx context.Context, log io.Writer, files ...string) error {
	name, err := c.context(ctx)
	if err != nil {
		return err
	}
	kind, ok := strings.CutPrefix(name, "kind-")
	if !ok {
		return fmt.Errorf("context %q is not a kind cluster: push the images of dist/images to a registry that it can pull from", name)
	}
	for _, f := range files {
		cmd := exec.CommandContext(ctx, "kind", "load", "image-archive", f, "--name", kind)
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
		}
	}
	return nil
}

// Exec replaces this process by argv; the caller's network reaches the cluster.
func (c Cluster) Exec(argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

func (c Cluster) context(ctx context.Context) (string, error) {
	out, err := c.kubectl(ctx, "config", "current-context")
	return strings.TrimSpace(string(out)), err
}

func (c Cluster) kubectl(ctx context.Context, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("no kubectl in PATH (`make cluster-build` makes one, `bin/cluster env` shows where)")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
