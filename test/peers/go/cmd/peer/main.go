// Command peer is a MCP client on either Go SDK, with the output of
// ../clients/client.mjs: one JSON event a line.
//
//	peer -sdk go-sdk|mcp-go -url URL [-revision 2025-11-25] list
//	peer -sdk go-sdk|mcp-go -url URL [-revision 2025-11-25] call NAME [JSON]
//	peer -sdk … talk                  does what the lines of stdin say
//
// With -capable it answers what the server asks, with fixed answers, and says in
// the result how often it was asked and how many progress notifications came.
//
// Exit code 0: done; 1: the server refused or could not be reached.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// session is what both SDKs offer here.
type session interface {
	revision() string
	// list returns names or URIs of tools, prompts, resources or templates.
	list(ctx context.Context, what string) ([]string, error)
	prompt(ctx context.Context, name string, args map[string]string) (any, error)
	read(ctx context.Context, uri string) (any, error)
	ping(ctx context.Context) error
	call(ctx context.Context, name string, args map[string]any) (result any, failed bool, err error)
	// onProgress is called with each notification from now on.
	onProgress(f func())
	close() error
	// seen is what came of the server's own accord.
	seen() *seen
}

// seen counts, when the client is capable.
type seen struct {
	hear                                   atomic.Pointer[func()]
	progress, elicitation, sampling, roots atomic.Int64
}

// progressed notes a progress notification.
func (s *seen) progressed() {
	s.progress.Add(1)
	if f := s.hear.Load(); f != nil {
		(*f)()
	}
}

// counts is seen as the TypeScript clients print it, and progress.
func (s *seen) counts() map[string]int64 {
	return map[string]int64{"progress": s.progress.Load(), "elicitation": s.elicitation.Load(), "sampling": s.sampling.Load(), "roots": s.roots.Load()}
}

// version is what the peers call themselves.
const version = "1.0.0"

// modern is the first revision without sessions.
const modern = "2026-07-28"

func main() {
	sdk := flag.String("sdk", "go-sdk", "go-sdk or mcp-go")
	url := flag.String("url", "", "the MCP endpoint")
	rev := flag.String("revision", "", "offer this protocol revision; empty: the SDK's newest")
	sse := flag.Bool("sse", false, "HTTP+SSE")
	capable := flag.Bool("capable", false, "answer what the server asks, and ask for progress")
	timeout := flag.Duration("timeout", 30*time.Second, "bound of the whole run")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	if err := run(ctx, *sdk, how{*url, *rev, *capable, *sse}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// how says how to connect.
type how struct {
	url, revision string
	capable, sse  bool
}

func run(ctx context.Context, sdk string, h how, args []string) error {
	open, ok := map[string]func(context.Context, how) (session, error){"go-sdk": openGoSDK, "mcp-go": openMCPGo}[sdk]
	if !ok || h.url == "" || len(args) == 0 {
		return fmt.Errorf("usage: peer -sdk go-sdk|mcp-go -url URL list | call NAME [JSON] | talk")
	}
	s, err := open(ctx, h)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer s.close()
	emit("connected", map[string]any{"revision": s.revision()})
	switch {
	case args[0] == "list":
		names, err := s.list(ctx, "tools")
		if err != nil {
			return err
		}
		emit("tools", map[string]any{"names": names})
	case args[0] == "talk":
		return talk(ctx, s)
	case args[0] == "call" && len(args) > 1:
		in := map[string]any{}
		if len(args) > 2 {
			if err := json.Unmarshal([]byte(args[2]), &in); err != nil {
				return err
			}
		}
		result, failed, err := s.call(ctx, args[1], in)
		if err != nil {
			return err
		}
		fields := map[string]any{"tool": args[1], "result": result}
		if h.capable {
			fields["progress"], fields["seen"] = s.seen().progress.Load(), s.seen().counts()
		}
		emit("result", fields)
		if failed {
			return fmt.Errorf("%s: the tool answered with an error", args[1])
		}
	default:
		return fmt.Errorf("unknown command %q", args)
	}
	return nil
}

var printing sync.Mutex

func emit(event string, fields map[string]any) {
	fields["event"] = event
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // what the SDKs decoded from JSON can be encoded again
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(line))
}
