// Command layer runs one layer of the test suite and prints its time against
// its budget:
//
//	layer -name unit -budget 5m -- go test ./...
//
// It exits with the command's own code. A layer that takes more than one and a
// half times its budget fails even if its tests pass, so that the suite cannot
// grow past what a continuous-integration run may take. FAIRLEAD_BUDGETS=print
// only prints (a busy or slow machine).
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("layer", flag.ContinueOnError)
	name := flags.String("name", "", "name of the layer")
	budget := flags.Duration("budget", 0, "time the layer should take at most")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *name == "" || *budget <= 0 || flags.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: layer -name NAME -budget DURATION -- COMMAND...")
		return 2
	}
	fmt.Printf("=== layer %s (budget %s)\n", *name, budget)
	start := time.Now()
	code, err := execute(flags.Args())
	took := time.Since(start).Round(time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Printf("=== layer %s: %s of %s, exit %d\n", *name, took, budget, code)
	if code == 0 && overBudget(took, *budget) && os.Getenv("FAIRLEAD_BUDGETS") != "print" {
		fmt.Fprintf(os.Stderr, "layer %s took %s, more than one and a half times its budget of %s: make it faster, or move tests to `make test-all`\n",
			*name, took, budget)
		return 1
	}
	return code
}

func overBudget(took, budget time.Duration) bool { return took > budget+budget/2 }

// execute runs the command with our streams. An interrupt reaches the child
// through the process group; we only have to outlive it to print the summary.
// It is caught, not ignored: a child would inherit that, and run on.
func execute(args []string) (int, error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil
	default:
		return 1, fmt.Errorf("%s: %w", args[0], err)
	}
}
