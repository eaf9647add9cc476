// Command proxy is a bridge from streamable HTTP to a server on stdio in about
// twenty lines on the Go SDK, as anybody would write one: the tools of the
// workload offered again, each call passed on. The bench compares its cost.
//
//	proxy -addr 127.0.0.1:8000 COMMAND [ARG...]
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8000", "listen here")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("proxy: no COMMAND")
	}
	if err := serve(context.Background(), *addr, exec.Command(flag.Arg(0), flag.Args()[1:]...)); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, addr string, command *exec.Cmd) error {
	who := &mcp.Implementation{Name: "proxy", Version: "1.0.0"}
	workload, err := mcp.NewClient(who, nil).Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return err
	}
	tools, err := workload.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	s := mcp.NewServer(who, nil)
	for _, tool := range tools.Tools {
		s.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return workload.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	}
	return http.ListenAndServe(addr, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
}
