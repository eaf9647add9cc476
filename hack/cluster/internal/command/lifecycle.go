package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/external"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/host"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/tools"
)

func buildCommand() *cobra.Command {
	return &cobra.Command{
		Use: "build", Short: "Build Kubernetes, etcd, containerd, runc and the CNI plugins, once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := find()
			if err != nil {
				return err
			}
			set, err := h.Build(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "tools:", set.Dir)
			keep, err := inUse(h)
			if err != nil {
				return err
			}
			return set.Prune(keep...)
		},
	}
}

// all returns the clusters that have a state folder in the cache of h.
func all(h host.Host) ([]host.Host, error) {
	entries, err := os.ReadDir(filepath.Join(h.Cache, "cluster"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []host.Host
	for _, e := range entries {
		if i, err := instance.New(e.Name(), h.Repo, h.Cache); err == nil && e.IsDir() {
			out = append(out, host.Host{Instance: i, Log: h.Log})
		}
	}
	return out, err
}

// inUse are the folders of binaries that running clusters of this cache use.
func inUse(h host.Host) ([]string, error) {
	clusters, err := all(h)
	var out []string
	for _, c := range clusters {
		if r, err := c.Running(); err == nil {
			out = append(out, r.Tools)
		}
	}
	return out, err
}

func assetsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "assets", Short: "Build only what envtest needs and print its KUBEBUILDER_ASSETS", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := find()
			if err != nil {
				return err
			}
			set, err := h.Build(cmd.Context(), tools.Assets()...)
			if err != nil {
				return err
			}
			fmt.Println(set.Dir)
			return nil
		},
	}
}

func upCommand() *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Start the cluster and wait until its node is Ready", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHost(
				func(h host.Host) error { return locked(h, func() error { return h.Up(cmd.Context()) }) },
				func(c external.Cluster) error { return c.Check(cmd.Context(), os.Stderr) })
		},
	}
}

func downCommand() *cobra.Command {
	var every bool
	cmd := &cobra.Command{
		Use: "down", Short: "End the cluster, and fail if anything of it is left", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every {
				return downAll(cmd.Context())
			}
			return withHost(
				func(h host.Host) error { return locked(h, func() error { return h.Down(cmd.Context()) }) },
				func(external.Cluster) error {
					fmt.Fprintln(os.Stderr, "cluster: KUBECONFIG names a cluster of your own; it is left alone")
					return nil
				})
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "end every local cluster of this cache, whatever KUBECONFIG says")
	return cmd
}

func downAll(ctx context.Context) error {
	h, err := find()
	if err != nil {
		return err
	}
	clusters, err := all(h)
	for _, c := range clusters {
		err = errors.Join(err, locked(c, func() error { return c.Down(ctx) }))
	}
	return err
}
