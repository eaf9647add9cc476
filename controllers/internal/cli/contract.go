package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func (p *plugin) contract() *cobra.Command {
	return &cobra.Command{
		Use:   "contract NAME",
		Short: "Print the live contract that the pods of an McpServer follow",
		Long: `Print the live contract: the settings that the operator hands to running pods
and that take effect without a restart. It is stored compressed, so kubectl
alone cannot show it.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: p.command(func(ctx context.Context, c cluster, a []string) error {
			server, err := c.server(ctx, a[0])
			if err != nil {
				return err
			}
			gz, err := c.live(ctx, server)
			if err != nil {
				return err
			}
			live, digest, err := config.DecodeLive(gz)
			if err != nil {
				return fmt.Errorf("live contract of McpServer %s/%s: %w", server.Namespace, server.Name, err)
			}
			if !p.asJSON() {
				fmt.Fprintf(p.streams.Out, "# digest %s; /status of each pod reports the one it follows\n", digest)
			}
			return p.printJSON(live)
		}),
	}
}
