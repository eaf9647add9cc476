// Command perf measures runtime and sidecar against null programs in the same
// run.
//
//	go run ./test/perf            all rows
//	go run ./test/perf serve scan only these
//
// The figure of a row is a ratio: CPU time of the server process per request
// against that of a program that only echoes or only forwards, medians of
// alternating runs, so that a noisy machine disturbs both. Servers are child
// processes of this one, the sidecar is the binary of this tree, and bridges of
// others run beside it. The kernel tells the CPU time of each. It prints a
// table and exits 1 when a bar is missed by more than a quarter.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// groups of rows, in the order they run.
var groups = []struct {
	name string
	run  func(context.Context, *table) error
}{
	{"scan", scanRows},
	{"serve", serveRows},
	{"pass", passRows},
	{"stdio", stdioRows},
	{"relay", relayRows},
	{"idle", idleRows},
	{"slow", slowRows},
	{"memory", memoryRows},
}

func main() {
	lines := flag.Bool("lines", false, "be the workload of the rows over stdio")
	flag.Parse()
	if *lines {
		if err := serveLines(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "lines:", err)
			os.Exit(1)
		}
		return
	}
	if role := os.Getenv(roleVariable); role != "" {
		if err := childMain(role); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := measure(ctx, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "perf: %d bars missed by more than a quarter\n", missed)
		os.Exit(1)
	}
}

func measure(ctx context.Context, only []string) (missed int, err error) {
	for _, name := range only {
		if !slices.ContainsFunc(groups, func(g struct {
			name string
			run  func(context.Context, *table) error
		}) bool {
			return g.name == name
		}) {
			return 0, fmt.Errorf("no rows are called %q", name)
		}
	}
	t := newTable(os.Stdout)
	for _, g := range groups {
		if len(only) > 0 && !slices.Contains(only, g.name) {
			continue
		}
		if err := g.run(ctx, t); err != nil {
			return 0, fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return t.print(), nil
}
