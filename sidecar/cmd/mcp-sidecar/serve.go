package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/app"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

// serveCommand is what runs in a pod. Everything it needs to know is in the
// environment and in mounts whose places both sides know (sidecar/config).
//
// The hidden flags exist for the data plane tests, which run several sidecars
// side by side as plain processes: there the ports and places of a pod are not
// free. The operator never sets them, and a user cannot.
func serveCommand(level *slog.LevelVar) *cobra.Command {
	var places app.Config
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve in a pod; configured by the operator",
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.FromEnv(os.Getenv)
			if err != nil {
				return err
			}
			c.Log = observe.NewLogger(cmd.ErrOrStderr(), level)
			override(&c.Public, places.Public)
			override(&c.Admin, places.Admin)
			override(&c.Metrics, places.Metrics)
			override(&c.LiveDir, places.LiveDir)
			override(&c.KeysDir, places.KeysDir)
			override(&c.AgentSocket, places.AgentSocket)
			override(&c.HookSocket, places.HookSocket)
			c.Keep, c.Collect = places.Keep, places.Collect
			a, err := app.New(c, app.Proxy)
			if err != nil {
				return err
			}
			return a.Run(cmd.Context())
		},
	}
	for name, field := range map[string]*string{
		"test-public":       &places.Public,
		"test-admin":        &places.Admin,
		"test-metrics":      &places.Metrics,
		"test-live-dir":     &places.LiveDir,
		"test-keys-dir":     &places.KeysDir,
		"test-agent-socket": &places.AgentSocket,
		"test-hook-socket":  &places.HookSocket,
	} {
		cmd.Flags().StringVar(field, name, "", "for tests")
		_ = cmd.Flags().MarkHidden(name) // fails for unknown names only
	}
	cmd.Flags().DurationVar(&places.Keep, "test-keep", 0, "for tests")
	cmd.Flags().BoolVar(&places.Collect, "test-collect", false, "for tests")
	_ = cmd.Flags().MarkHidden("test-keep")
	_ = cmd.Flags().MarkHidden("test-collect")
	return cmd
}

func override(field *string, value string) {
	if value != "" {
		*field = value
	}
}
