// Command conformance runs the protocol's official conformance suite: against
// one process of our workload under one URL, against the sidecar in front of
// builds of it, and on our client. It judges every check, has what was sent
// validated by the protocol's schemas, and writes docs/conformance.md. It ends 0
// only when nothing failed and nothing warned.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// options are what a person may ask for; paths are relative to the root of the
// repository, where the command runs.
type options struct {
	suite, exceptions, page string
	workload, client        string
	sidecar                 string
	dir                     string
	check                   bool
	sets, only, via         []string
	parallel                int
	timeout                 time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	var o options
	fs := flag.NewFlagSet("conformance", flag.ContinueOnError)
	fs.StringVar(&o.suite, "suite", "test/conformance/suite", "folder that the suite is installed in")
	fs.StringVar(&o.exceptions, "exceptions", "test/conformance/exceptions.txt", "checks that may fail, and why")
	fs.StringVar(&o.page, "page", "docs/conformance.md", "page to write after a full run that passed; empty: none")
	fs.BoolVar(&o.check, "check", false, "do not write the page but fail when what it says of the sets that run would change")
	fs.StringVar(&o.workload, "workload", "bin/conformance-workload", "server under test")
	fs.StringVar(&o.client, "client", "bin/conformance-client", "client under test")
	fs.StringVar(&o.sidecar, "sidecar", "bin/mcp-sidecar", "sidecar under test, with -via")
	fs.StringVar(&o.dir, "dir", ".cache/conformance", "where results and recordings go; emptied first")
	fs.IntVar(&o.parallel, "parallel", runtime.NumCPU()+1, "runs of the suite at the same time")
	fs.DurationVar(&o.timeout, "timeout", 5*time.Minute, "what one run may take")
	sets := fs.String("set", "", "only these sets, REVISION/server or REVISION/client, comma separated")
	via := fs.String("via", "", "only through a sidecar in front of these builds of the workload, comma separated: "+strings.Join(backs, ", ")+", all; or "+direct+", without one")
	only := fs.String("only", "", "only these scenarios, comma separated")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	o.sets, o.only, o.via = list(*sets), list(*only), list(*via)
	if strings.ContainsAny(o.dir+o.client, " \t'\"$") {
		fmt.Fprintln(os.Stderr, "conformance: the suite splits commands at spaces: use paths without any (-dir, -client)")
		return 2
	}
	start := time.Now()
	ok, err := conformance(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	fmt.Printf("conformance: %s\n", time.Since(start).Round(100*time.Millisecond))
	if !ok || err != nil {
		return 1
	}
	return 0
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// path joins below the folder of results.
func (o *options) path(elem ...string) string {
	return filepath.Join(append([]string{o.dir}, elem...)...)
}

// full reports whether everything runs, whole whether every set runs whole that
// runs at all.
func (o *options) full() bool  { return o.whole() && len(o.sets) == 0 && len(o.via) == 0 }
func (o *options) whole() bool { return len(o.only) == 0 }
