package memory_test

import (
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
)

// A client and a server in one program.
func Example() {
	server := &mcptest.Stub{} // or server.New
	c, err := client.Connect(context.Background(), client.Options{
		Server:   client.Memory(func() peer.Link { return memory.Connect(server, memory.Options{}) }),
		Revision: "2025-11-25",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	answer, err := c.Call(context.Background(), "tools/call", map[string]string{"name": "x"})
	fmt.Println(string(answer), err)
	// Output: {"echo":"tools/call"} <nil>
}
