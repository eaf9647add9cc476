package stdio_test

import (
	"context"
	"io"
	"log"
	"os"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// A program that is an MCP server on its standard streams, for clients of every
// revision. Any dispatch.Server will do; server.New makes one.
func ExampleServe() {
	// A client that sends one request and goes; a program passes os.Stdin.
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	out := struct{ io.Writer }{os.Stdout} // not to be closed here
	if err := stdio.Serve(context.Background(), &mcptest.Stub{}, stdio.Options{}, in, out); err != nil {
		log.Fatal(err)
	}
	// Output: {"jsonrpc":"2.0","id":1,"result":{}}
}
