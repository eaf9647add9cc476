package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func (p *plugin) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check NAME",
		Short: "Say how an McpServer is, why, and what to do",
		Long: `Show the conditions of an McpServer, its pods, what each sidecar reports, the
last lines that a failed workload wrote on standard error, and what to do.

Those lines never appear in conditions or events, since they may hold secrets.
The exit code is 0 when the McpServer is Ready, 1 otherwise.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: p.command(func(ctx context.Context, c cluster, a []string) error {
			server, err := c.server(ctx, a[0])
			if err != nil {
				return err
			}
			f, err := inspect(ctx, c, server)
			if err != nil {
				return err
			}
			if p.asJSON() {
				err = p.printJSON(f)
			} else {
				err = f.print(p.streams.Out)
			}
			if err == nil && !f.Ready {
				err = fmt.Errorf("McpServer %s is not Ready", f.Server)
			}
			return err
		}),
	}
}

func (f *finding) print(w io.Writer) error {
	fmt.Fprintf(w, "McpServer %s\n\n", f.Server)
	var rows [][]string
	for _, c := range f.Result {
		rows = append(rows, []string{c.Type, c.Status, c.Reason, c.Message})
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "No conditions yet: the operator has not looked at it.")
	} else if err := table(w, []string{"CONDITION", "STATUS", "REASON", "MESSAGE"}, rows); err != nil {
		return err
	}
	if len(f.Pods) > 0 {
		fmt.Fprintln(w)
		rows = nil
		for _, p := range f.Pods {
			rows = append(rows, p.row())
		}
		if err := table(w, []string{"POD", "READY", "TEMPLATE", "RESTARTS", "WORKLOAD", "SPEAKS", "SESSIONS", "ACTIVE", "PROCESSES"}, rows); err != nil {
			return err
		}
		for _, p := range f.Pods {
			p.details(w)
		}
	}
	if len(f.Advice) > 0 {
		fmt.Fprintln(w, "\nWhat to do:")
		for _, a := range f.Advice {
			fmt.Fprintf(w, "  %s: %s\n", a.Reason, a.Do)
		}
	}
	return nil
}

func (p podFinding) row() []string {
	row := []string{p.Name, strconv.FormatBool(p.Ready), "old", strconv.Itoa(int(p.Restarts)), p.Phase, "", "", "", ""}
	if p.Current {
		row[2] = "current"
	}
	if p.Leaving {
		row[2] += ", leaving"
	}
	if s := p.Status; s != nil {
		row[4] = string(s.Workload.State)
		if s.Workload.Reason != "" {
			row[4] += " (" + s.Workload.Reason + ")"
		}
		row[5] = s.Workload.Revision
		row[6], row[7], row[8] = strconv.Itoa(s.Counts.Sessions), strconv.Itoa(s.Counts.Active), strconv.Itoa(s.Counts.Processes)
	}
	return row
}

// details prints what does not fit in a row.
func (p podFinding) details(w io.Writer) {
	say := func(format string, a ...any) {
		fmt.Fprintf(w, "\n%s: %s\n", p.Name, printable(fmt.Sprintf(format, a...)))
	}
	for _, line := range p.Waiting {
		say("container %s", line)
	}
	if p.StatusError != "" {
		say("no report from the sidecar: %s", p.StatusError)
	}
	s := p.Status
	if s == nil {
		return
	}
	if s.LiveError != "" {
		say("the live contract could not be loaded, the last good one is in force: %s", s.LiveError)
	}
	if s.Draining {
		say("draining")
	}
	if s.Workload.Relayed {
		say("the pipes of the workload's processes cannot be passed to the sidecar: their bytes are relayed, which costs CPU time")
	}
	if s.Workload.State != config.WorkloadFailed {
		return
	}
	if s.Workload.ExitCode != nil {
		say("the workload ended with exit code %d", *s.Workload.ExitCode)
	}
	if len(s.Workload.StderrTail) == 0 {
		return
	}
	say("the workload's last lines on standard error:")
	for _, line := range s.Workload.StderrTail {
		fmt.Fprintf(w, "    | %s\n", oneLine(line))
	}
}
