package command

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/node"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/nodeconf"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/registry"
)

// The commands below are what the node runs of this program; `up` starts them.

// place tells a process inside the node which cluster it is: it has neither the
// environment nor the working directory of the caller of `up`.
type place struct{ name, repo, cache, tools string }

func (p *place) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.name, "name", "", "")
	f.StringVar(&p.repo, "repo", "", "")
	f.StringVar(&p.cache, "cache", "", "")
	f.StringVar(&p.tools, "tools", "", "")
	cmd.Hidden = true
}

func (p *place) argv(sub string) []string {
	return []string{os.Args[0], sub, "--name", p.name, "--repo", p.repo, "--cache", p.cache, "--tools", p.tools}
}

func nodeInitCommand() *cobra.Command {
	var p place
	cmd := &cobra.Command{Use: "node-init", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		i, err := instance.New(p.name, p.repo, p.cache)
		if err != nil {
			return err
		}
		return node.Init(i, p.argv("node-run"))
	}}
	p.flags(cmd)
	return cmd
}

func nodeRunCommand() *cobra.Command {
	var p place
	cmd := &cobra.Command{Use: "node-run", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		i, err := instance.New(p.name, p.repo, p.cache)
		if err != nil {
			return err
		}
		return node.Run(cmd.Context(), i, nodeconf.For(i, p.tools, ""), p.argv("registry-serve"))
	}}
	p.flags(cmd)
	return cmd
}

func registryServeCommand() *cobra.Command {
	var p place
	cmd := &cobra.Command{Use: "registry-serve", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		i, err := instance.New(p.name, p.repo, p.cache)
		if err != nil {
			return err
		}
		return registry.Serve("127.0.0.1:5000", instance.RegistrySocket, i.Path("registry"), os.Stderr)
	}}
	p.flags(cmd)
	return cmd
}
