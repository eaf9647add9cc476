package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func (p *plugin) tools() *cobra.Command {
	return &cobra.Command{
		Use:     "tools NAME",
		Aliases: []string{"list"},
		Short:   "List the tools that an McpServer offers",
		Args:    args(cobra.ExactArgs(1)),
		RunE: p.command(func(ctx context.Context, c cluster, a []string) error {
			return p.withSession(ctx, c, a[0], func(s session) error {
				tools, err := s.tools(ctx)
				if err != nil {
					return err
				}
				return p.printTools(tools)
			})
		}),
	}
}

func (p *plugin) printTools(tools []json.RawMessage) error {
	if p.asJSON() {
		return p.printJSON(map[string]any{"tools": append([]json.RawMessage{}, tools...)})
	}
	var rows [][]string
	for _, raw := range tools {
		var t struct{ Name, Title, Description string }
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("a tool that cannot be read: %w", err)
		}
		if t.Description == "" {
			t.Description = t.Title
		}
		rows = append(rows, []string{t.Name, t.Description})
	}
	return table(p.streams.Out, []string{"NAME", "DESCRIPTION"}, rows)
}

// withSession connects to a ready pod of the McpServer, whose sidecar serves
// what every other pod does.
func (p *plugin) withSession(ctx context.Context, c cluster, name string, do func(session) error) error {
	server, err := c.server(ctx, name)
	if err != nil {
		return err
	}
	pod, err := readyPod(ctx, c, server)
	if err != nil {
		return err
	}
	base, stop, err := c.forward(ctx, pod, config.PortPublic)
	if err != nil {
		return err
	}
	defer stop()
	s, err := p.dial(ctx, base+endpointPath)
	if err != nil {
		return fmt.Errorf("connect to pod %s: %w", pod.Name, err)
	}
	defer s.close()
	return do(s)
}

// endpointPath is where every sidecar serves MCP (R17).
const endpointPath = "/mcp"
