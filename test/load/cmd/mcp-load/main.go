// Command mcp-load drives MCP clients of two eras against one endpoint of this
// machine's test cluster, prints a JSON report on stdout and a line on stderr,
// and ends 1 when a call failed or the rate stayed below -min-rate.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/test/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	var cfg load.Config
	fs := flag.NewFlagSet("mcp-load", flag.ContinueOnError)
	fs.StringVar(&cfg.URL, "url", "", "endpoint, http://IP:PORT/mcp")
	fs.DurationVar(&cfg.Duration, "duration", 30*time.Second, "issue calls for this long; SIGTERM ends it earlier")
	fs.IntVar(&cfg.Modern, "modern", 10, "clients of 2026-07-28")
	fs.Float64Var(&cfg.Rate, "rate", 50, "calls per second of all modern clients together")
	fs.IntVar(&cfg.Legacy, "legacy", 10, "clients of 2025-11-25")
	fs.StringVar(&cfg.Fast.Name, "fast", "get-env", "fast tool")
	fs.StringVar(&cfg.Fast.Args, "fast-args", "{}", "its arguments")
	fs.StringVar(&cfg.Slow.Name, "slow", "trigger-long-running-operation", "slow tool, every second call; empty: none")
	fs.StringVar(&cfg.Slow.Args, "slow-args", `{"duration":{s},"steps":1}`, "its arguments; {s} and {ms} are replaced")
	fs.DurationVar(&cfg.SlowMin, "slow-min", 2*time.Second, "shortest slow call")
	fs.DurationVar(&cfg.SlowMax, "slow-max", 8*time.Second, "longest slow call")
	fs.Uint64Var(&cfg.Seed, "seed", 1, "makes the durations repeatable")
	pod := fs.String("pod", `"HOSTNAME":\s*"([^"]+)"`, "finds the answering pod in a fast call's text")
	minRate := fs.Float64("min-rate", 0, "fail when fewer calls per second were made")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if *pod != "" {
		re, err := regexp.Compile(*pod)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		cfg.Pod = re
	}
	report, err := load.Run(ctx, cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Fprintln(os.Stderr, report)
	if report.Failed > 0 || report.Rate < *minRate {
		return 1
	}
	return 0
}
