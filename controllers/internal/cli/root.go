// Package cli is the kubectl plugin: `kubectl mcp get`, `tools`, `call`,
// `check` and `contract`, one file per verb.
//
// It looks at McpServers through the Kubernetes API and talks to their pods
// through a port forward, so it works from wherever kubectl works and needs no
// way into the pod network. It only looks: it must not change any object.
//
// Answers go to standard output, everything said about a failure to standard
// error, and a failure has an exit code other than 0 (C42).
package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// Exit codes of Run.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Streams are the standard streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// plugin is what every command works with. The two functions are the outside
// world; they are called after the flags were read.
type plugin struct {
	streams Streams
	options options
	cluster func(options) (cluster, error)
	dial    func(ctx context.Context, endpoint string) (session, error)
}

// options are the flags that all commands share.
type options struct {
	kubeconfig, context, namespace string
	output                         string
	timeout                        time.Duration
}

// Run executes the command line args and returns the exit code.
func Run(ctx context.Context, args []string, streams Streams) int {
	return run(ctx, args, &plugin{streams: streams, cluster: newKube, dial: dialMCP})
}

func run(ctx context.Context, args []string, p *plugin) int {
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.streams.In)
	root.SetOut(p.streams.Out)
	root.SetErr(p.streams.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(p.streams.Err, "Error:", printable(err.Error()))
	if isUsage(err) {
		return exitUsage
	}
	return exitFailed
}

func (p *plugin) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-mcp",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl mcp"},
		Short:         "Look at McpServers and call their tools",
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		CompletionOptions: cobra.CompletionOptions{
			DisableDefaultCmd: true,
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f := root.PersistentFlags()
	f.StringVar(&p.options.kubeconfig, "kubeconfig", "", "path of the kubeconfig file; default as kubectl")
	f.StringVar(&p.options.context, "context", "", "context of the kubeconfig to use")
	f.StringVarP(&p.options.namespace, "namespace", "n", "", "namespace; default that of the context")
	f.StringVarP(&p.options.output, "output", "o", "text", "text or json")
	f.DurationVar(&p.options.timeout, "timeout", time.Minute, "give up after this long")
	root.AddCommand(p.get(), p.tools(), p.call(), p.check(), p.contract())
	return root
}

// command makes the RunE of a verb: it checks what all verbs share, opens the
// cluster and bounds the time.
func (p *plugin) command(do func(ctx context.Context, c cluster, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if p.options.output != "text" && p.options.output != "json" {
			return usagef("-o %s: text or json", p.options.output)
		}
		if p.options.timeout <= 0 {
			return usagef("--timeout %s: must be positive", p.options.timeout)
		}
		c, err := p.cluster(p.options)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), p.options.timeout)
		defer cancel()
		return do(ctx, c, args)
	}
}

// args wraps a cobra argument rule, so that breaking it counts as wrong usage.
func args(rule cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if err := rule(c, a); err != nil {
			return usageError{fmt.Errorf("%w\nUsage: %s", err, c.UseLine())}
		}
		return nil
	}
}
