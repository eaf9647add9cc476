// Command gosdk is a MCP server written with the Go SDK: stateful streamable
// HTTP, revisions up to 2025-11-25. The workload of the HTTP sample, and a
// foreign server for the tests.
//
//	gosdk [-addr 127.0.0.1:3000] [-path /mcp] [-start-delay 10s]
//	gosdk probe [-addr 127.0.0.1:3000]
//
// probe asks the running server's /healthz and ends 0 when it is healthy: the
// exec probe of an image that has no shell.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(log.LstdFlags | log.LUTC)
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("gosdk", flag.ExitOnError)
	addr := fs.String("addr", "127.0.0.1:3000", "listen here")
	path := fs.String("path", "/mcp", "serve MCP under this path")
	delay := fs.Duration("start-delay", 0, "wait this long before listening, like a server that loads something")
	_ = fs.Parse(args)

	select {
	case <-time.After(*delay):
	case <-ctx.Done():
		return nil
	}
	srv := &http.Server{Addr: *addr, Handler: handler(*path), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.ListenAndServe() }()
	log.Printf("listening on %s%s", *addr, *path)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Streams of clients never end by themselves: bounded, then cut.
	grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func probe(args []string) int {
	fs := flag.NewFlagSet("probe", flag.ExitOnError)
	addr := fs.String("addr", "127.0.0.1:3000", "where the server listens")
	_ = fs.Parse(args)
	c := &http.Client{Timeout: 2 * time.Second}
	resp, err := c.Get("http://" + *addr + "/healthz")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, "unhealthy:", resp.Status)
		return 1
	}
	return 0
}
