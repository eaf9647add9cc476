package command

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/external"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/host"
)

func loadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "load ARCHIVE…", Short: "Import image archives that the node does not have yet", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withHost(
				func(h host.Host) error { return h.Load(cmd.Context(), args...) },
				func(c external.Cluster) error { return c.Load(cmd.Context(), os.Stderr, args...) })
		},
	}
}

func registryCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "registry", Short: "The loopback registry that the node pulls everything from"}
	cmd.AddCommand(&cobra.Command{
		Use: "push ARCHIVE NAME", Short: "Store an image archive under a name, for instance localhost:5000/everything:1",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withHost(func(h host.Host) error { return h.Push(cmd.Context(), args[0], args[1]) }, foreign)
		},
	})
	return cmd
}
