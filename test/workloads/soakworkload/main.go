// Command soakworkload is an MCP server for soaks: everything that it says
// carries the token of the call that made it speak, and every execution of a
// tool leaves a line in a journal.
//
//	soakworkload -journal FILE [-revisions legacy|modern|LIST]
//
// It speaks over standard input and output. The tools are in tools.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// patience is how long requests may still take when the input has ended.
const patience = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "soakworkload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	fs := flag.NewFlagSet("soakworkload", flag.ContinueOnError)
	name := fs.String("journal", "", "file that every execution of a tool is written to")
	revisions := fs.String("revisions", "", "serve only these: legacy, modern, or a list with commas")
	if err := fs.Parse(args); err != nil {
		return err
	}
	offer, err := offered(*revisions)
	if err != nil {
		return err
	}
	if *name == "" || fs.NArg() > 0 {
		return errors.New("usage: soakworkload -journal FILE [-revisions LIST]")
	}
	j, err := openJournal(*name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	keys := &seal.Keyring{Server: "soak"}
	if err := keys.LoadEphemeral(); err != nil {
		return err
	}
	tasks, err := task.New(task.Options{Keys: keys, Poll: pollEvery, DefaultTTL: taskLife, MaxTTL: taskLife, Sweep: time.Second})
	if err != nil {
		return err
	}
	s := server.New(server.Info{Name: "soakworkload", Version: "1.0.0"}, server.Options{Keys: keys, Tasks: tasks})
	if err := (&workload{server: s, journal: j}).fill(); err != nil {
		return errors.Join(err, tasks.Close(ctx))
	}
	err = stdio.Serve(ctx, s, stdio.Options{Revisions: offer}, os.Stdin, os.Stdout)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.Close()
	return errors.Join(err, tasks.Close(late))
}

// offered reads what to serve; nothing is everything.
func offered(text string) (mcp.Offer, error) {
	switch text {
	case "":
		return nil, nil
	case "legacy":
		return mcp.Legacy(), nil
	case "modern":
		return mcp.Modern(), nil
	}
	offer := mcp.Offer(strings.Split(text, ","))
	for _, revision := range offer {
		if _, ok := mcp.Lookup(revision); !ok {
			return nil, fmt.Errorf("there is no revision %q", revision)
		}
	}
	return offer, nil
}
