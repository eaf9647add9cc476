package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/external"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/host"
)

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use: "env", Short: `Print what a shell needs: eval "$(bin/cluster env)"`, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return withHost(func(h host.Host) error {
				r, err := h.Running()
				if err != nil {
					return err
				}
				for _, kv := range h.Env(r) {
					name, value, _ := strings.Cut(kv, "=")
					fmt.Printf("export %s=%s\n", name, quote(value))
				}
				return nil
			}, func(c external.Cluster) error {
				fmt.Printf("export KUBECONFIG=%s\n", quote(c.Kubeconfig))
				return nil
			})
		},
	}
}

// quote makes one shell word of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func execCommand() *cobra.Command {
	var node bool
	cmd := &cobra.Command{
		Use:   "exec [--node] -- COMMAND [ARG…]",
		Short: "Run a command inside the node's network, with your files and environment",
		Long: `Run a command inside the node's network, where pods, services and the API server
can be reached. Files, working directory and environment stay yours, KUBECONFIG is
set, proxy settings are dropped. With --node it sees the node's processes, mounts,
/run and /var/lib as well.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return withHost(func(h host.Host) error {
				if node {
					return h.ExecNode(args)
				}
				return h.Exec(args)
			}, func(c external.Cluster) error {
				if node {
					return errForeign
				}
				return c.Exec(args)
			})
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVar(&node, "node", false, "enter all namespaces of the node")
	return cmd
}

func kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kubectl [ARG…]", Short: "Run kubectl against the cluster as its administrator", DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			argv := append([]string{"kubectl"}, args...)
			return withHost(
				func(h host.Host) error { return h.Exec(argv) },
				func(c external.Cluster) error { return c.Exec(argv) })
		},
	}
}
