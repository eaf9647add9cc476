// Command conformance-workload is our server as the conformance suite tests it:
// all revisions under one URL, or over standard input and output.
//
//	conformance-workload -http 127.0.0.1:0   prints its URL and serves until SIGTERM
//	conformance-workload -stdio              serves until its input ends
//	  -revisions legacy | modern | LIST      only these; all by default
//	  -page N                                items in a page of a list
//	  -older                                 only HTTP+SSE, as servers of 2024-11-05
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/workload"
)

// patience is how long requests may still take when the process is told to end.
const patience = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance-workload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	fs := flag.NewFlagSet("conformance-workload", flag.ContinueOnError)
	address := fs.String("http", "", "serve streamable HTTP on this address; port 0 is a free one")
	pipes := fs.Bool("stdio", false, "serve standard input and output")
	recording := fs.String("record", "", "file to record all messages in; {pid} becomes the process id")
	revisions := fs.String("revisions", "", "serve only these: legacy, modern, or a list with commas")
	page := fs.Int("page", 0, "items in a page of a list; 0 is the default")
	older := fs.Bool("older", false, "serve HTTP+SSE of 2024-11-05 and nothing else")
	if err := fs.Parse(args); err != nil {
		return err
	}
	offer, err := workload.Offer(*revisions)
	if err != nil {
		return err
	}
	if (*address == "") == !*pipes || *older && *pipes || fs.NArg() > 0 {
		return errors.New("usage: conformance-workload -http ADDRESS [-older] | -stdio [-record FILE]")
	}
	log := &record.Log{}
	if *recording != "" {
		if log, err = record.Create(*recording); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	w, err := workload.NewPaged(slog.New(slog.NewTextHandler(os.Stderr, nil)), *page)
	if err != nil {
		return err
	}
	if *pipes {
		err = stdio.Serve(ctx, w.Server, stdio.Options{Revisions: offer}, record.Reader(os.Stdin, record.Theirs, log), record.Writer(os.Stdout, record.Ours, log))
	} else {
		front := w.Older
		if !*older {
			front = func() http.Handler { return w.Front(offer) }
		}
		err = serveHTTP(ctx, *address, record.Handler(front(), log), w)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(err, w.Close(ctx))
}

// serveHTTP serves until ctx ends, then lets go of everybody.
func serveHTTP(ctx context.Context, address string, h http.Handler, w *workload.Workload) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(os.Stderr, nil), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err = errors.Join(w.Close(late), server.Shutdown(late))
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
