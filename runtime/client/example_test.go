package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
)

// here is a server in this process, with a tool that greets whoever the user
// says to be. Programs use client.HTTP, client.Command or client.Pipes.
func here(name string) client.Memory {
	type greeting struct {
		Politely bool `json:"politely,omitempty"`
	}
	s := server.New(server.Info{Name: name, Version: "1"}, server.Options{})
	err := server.AddTool(s, server.Tool{Name: "greet"}, func(c *server.Context, in greeting) (string, error) {
		answer, err := c.Elicit("who", server.ElicitParams{
			Message: "Who are you?",
			Schema:  []byte(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		})
		if err != nil {
			return "", err
		}
		var form struct {
			Name string `json:"name"`
		}
		if err := answer.Into(&form); err != nil {
			return "", err
		}
		if in.Politely {
			return "Good evening, " + form.Name, nil
		}
		return "Hi " + form.Name, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return func() peer.Link { return memory.Connect(s, memory.Options{}) }
}

// A client in 15 lines, whatever revision the server speaks.
func Example() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{Server: here("hall"), Name: "example", Version: "1"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Server().Name, "offers", tool.Name)
	}
	// Output: hall offers greet
}

// One handler answers a server with a session, and one without.
func ExampleHandlers() {
	ctx := context.Background()
	ask := func(_ context.Context, r client.ElicitRequest) (client.ElicitResult, error) {
		fmt.Println(r.Message)
		return client.ElicitResult{Action: client.Accept, Content: map[string]string{"name": "Ada"}}, nil
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		c, err := client.Connect(ctx, client.Options{
			Server: here("hall"), Revision: revision, Handlers: client.Handlers{Elicit: ask},
		})
		if err != nil {
			log.Fatal(err)
		}
		result, err := c.CallTool(ctx, "greet", map[string]bool{"politely": true})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Text())
		_ = c.Close()
	}
	// Output:
	// Who are you?
	// Good evening, Ada
	// Who are you?
	// Good evening, Ada
}

// Several servers, one namespace of tools.
func ExampleGroup() {
	ctx := context.Background()
	g, err := client.ConnectGroup(ctx, client.GroupOptions{Members: []client.Member{
		{Name: "hall", Required: true, Options: client.Options{Server: here("hall")}},
		{Name: "door", Options: client.Options{Server: here("door")}},
		{Name: "roof", Options: client.Options{Server: client.Command{Path: "/nowhere/at-all"}}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	tools, err := g.Tools(ctx)
	for _, tool := range tools {
		fmt.Println(tool.Flat)
	}
	fmt.Println(err != nil, "the roof is missing, and nobody else minds")
	// Output:
	// hall.greet
	// door.greet
	// true the roof is missing, and nobody else minds
}
