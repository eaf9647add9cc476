package command

import (
	"fmt"
	"os"

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
			return set.Prune(inUse(h)...)
		},
	}
}

// inUse are the folders of binaries that running clusters of this cache use.
func inUse(h host.Host) []string {
	var out []string
	entries, err := os.ReadDir(h.Cache + "/cluster")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		i, err := instance.New(e.Name(), h.Repo, h.Cache)
		if err != nil {
			continue
		}
		if r, err := i.LoadRecord(); err == nil && r.Alive() {
			out = append(out, r.Tools)
		}
	}
	return out
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
	return &cobra.Command{
		Use: "down", Short: "End the cluster, and fail if anything of it is left", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHost(
				func(h host.Host) error { return locked(h, func() error { return h.Down(cmd.Context()) }) },
				func(external.Cluster) error {
					fmt.Fprintln(os.Stderr, "cluster: KUBECONFIG names a cluster of your own; it is left alone")
					return nil
				})
		},
	}
}
