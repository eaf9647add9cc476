// Command server is an MCP server on either Go SDK, for the tests of our own
// client. Both offer the same:
//
//	tools      echo {message}, count {n} with progress, wait until it is
//	           cancelled, cancels (how often it was), ask, sample, where
//	           (what the client says when it is asked)
//	prompt     greet {who}
//	resource   peer://note
//
//	server -sdk go-sdk|mcp-go -over stdio|http|stateless|sse [-addr 127.0.0.1:0]
//
// Over HTTP the first line of its output is the endpoint.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// program is what both SDKs offer here.
type program struct {
	stdio func(ctx context.Context) error
	// handlers are by -over; an SDK without one does not have it.
	handlers map[string]http.Handler
}

func main() {
	sdk := flag.String("sdk", "go-sdk", "go-sdk or mcp-go")
	over := flag.String("over", "stdio", "stdio, http, stateless or sse")
	addr := flag.String("addr", "127.0.0.1:0", "listen here")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *sdk, *over, *addr); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, sdk, over, addr string) error {
	build, ok := map[string]func() program{"go-sdk": goSDK, "mcp-go": mcpGo}[sdk]
	if !ok {
		return fmt.Errorf("no SDK is called %q", sdk)
	}
	p := build()
	if over == "stdio" {
		return p.stdio(ctx)
	}
	h, ok := p.handlers[over]
	if !ok {
		return fmt.Errorf("%s has nothing called %q", sdk, over)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	path := "/mcp"
	if over == "sse" {
		path = "/sse"
	}
	fmt.Fprintf(os.Stdout, "http://%s%s\n", l.Addr(), path)
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Streams of clients never end by themselves: bounded, then cut.
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
