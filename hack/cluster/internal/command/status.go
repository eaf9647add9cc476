package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/external"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/host"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/supervisor"
)

// report is what `cluster status -o json` prints.
type report struct {
	Name       string              `json:"name"`
	Running    bool                `json:"running"`
	PID        int                 `json:"pid,omitempty"` // of the node's first process, on the machine
	Node       string              `json:"node"`
	Cgroup     string              `json:"cgroup"` // below every hierarchy of /sys/fs/cgroup
	Kubeconfig string              `json:"kubeconfig"`
	AuditLog   string              `json:"auditLog"`
	Logs       string              `json:"logs"`
	Tools      string              `json:"tools,omitempty"`
	Registry   string              `json:"registry"`
	Components []supervisor.Status `json:"components,omitempty"`
}

func statusCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "status", Short: "Show the components and where things are; exit 1 when it is down", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHost(
				func(h host.Host) error { return status(cmd.Context(), h, output, os.Stdout) },
				func(c external.Cluster) error { return c.Check(cmd.Context(), os.Stdout) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", `"json" for programs`)
	return cmd
}

func status(ctx context.Context, h host.Host, output string, w io.Writer) error {
	rep := report{
		Name: h.Name, Node: h.NodeName(), Cgroup: h.Cgroup(), Kubeconfig: h.Kubeconfig(),
		AuditLog: h.AuditLog(), Logs: h.LogDir(), Registry: instance.Registry,
	}
	r, down := h.Running()
	if down == nil {
		control, err := h.Control()
		if err != nil {
			return err
		}
		if rep.Components, err = control.Units(ctx); err != nil {
			return fmt.Errorf("ask the node: %w", err)
		}
		rep.Running, rep.PID, rep.Tools = true, r.PID, r.Tools
	} else if !errors.Is(down, host.ErrNotRunning) {
		return down
	}
	if output == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return errors.Join(enc.Encode(rep), down)
	}
	rep.print(w)
	return down
}

func (r report) print(w io.Writer) {
	state := "stopped"
	if r.Running {
		state = fmt.Sprintf("running, first process %d", r.PID)
	}
	fmt.Fprintf(w, "cluster %s: %s\n", r.Name, state)
	if r.Running {
		tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(tw, "  COMPONENT\tSTATE\tSTARTS\tFIRST READY\tNOTE")
		for _, c := range r.Components {
			note := c.NotReady
			if note == "" {
				note = c.LastExit
			}
			fmt.Fprintf(tw, "  %s\t%s\t%d\t%.1f s\t%s\n", c.Name, c.State, c.Starts, c.ReadyAt, strings.TrimSpace(note))
		}
		_ = tw.Flush() // to the terminal
	}
	for _, kv := range [][2]string{
		{"node", r.Node},
		{"kubeconfig", r.Kubeconfig + "   (inside its network: bin/cluster kubectl …, bin/cluster exec -- …)"},
		{"audit log", r.AuditLog},
		{"logs", r.Logs},
		{"registry", r.Registry + "   (bin/cluster registry push ARCHIVE NAME)"},
	} {
		fmt.Fprintf(w, "  %-11s %s\n", kv[0], kv[1])
	}
}

func actionCommand(action, short string) *cobra.Command {
	return &cobra.Command{
		Use: action + " COMPONENT", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withHost(func(h host.Host) error {
				control, err := h.Control()
				if err != nil {
					return err
				}
				return control.Act(cmd.Context(), args[0], action)
			}, foreign)
		},
	}
}
