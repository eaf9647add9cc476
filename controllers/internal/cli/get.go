package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

func (p *plugin) get() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "get",
		Short: "List McpServers and whether they answer",
		Args:  args(cobra.NoArgs),
		RunE: p.command(func(ctx context.Context, c cluster, _ []string) error {
			servers, err := c.servers(ctx, all)
			if err != nil {
				return err
			}
			return p.printServers(servers, all)
		}),
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "of all namespaces")
	return cmd
}

func (p *plugin) printServers(servers []v1alpha1.McpServer, all bool) error {
	if p.asJSON() {
		return p.printJSON(v1alpha1.McpServerList{Items: append([]v1alpha1.McpServer{}, servers...)})
	}
	head := []string{"NAME", "AVAILABLE", "READY", "PODS", "SPEAKS", "SERVER", "URL"}
	if all {
		head = append([]string{"NAMESPACE"}, head...)
	}
	var rows [][]string
	for _, s := range servers {
		row := []string{
			s.Name, conditionWord(s, v1alpha1.ConditionAvailable), conditionWord(s, v1alpha1.ConditionReady),
			number(s.Status.ReadyReplicas) + "/" + number(s.Spec.Replicas), "", "", "",
		}
		if info := s.Status.Server; info != nil {
			row[4], row[5] = info.ProtocolVersion, strings.TrimSpace(info.Name+" "+info.Version)
		}
		if s.Status.Address != nil {
			row[6] = s.Status.Address.URL
		}
		if all {
			row = append([]string{s.Namespace}, row...)
		}
		rows = append(rows, row)
	}
	return table(p.streams.Out, head, rows)
}

// conditionWord is the status, with the reason when it is not True.
func conditionWord(s v1alpha1.McpServer, condition string) string {
	c := meta.FindStatusCondition(s.Status.Conditions, condition)
	switch {
	case c == nil:
		return "Unknown"
	case c.Status == "True":
		return "True"
	}
	return string(c.Status) + " (" + c.Reason + ")"
}

func number(n *int32) string {
	if n == nil {
		return "0"
	}
	return strconv.Itoa(int(*n))
}
