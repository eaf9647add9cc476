// Package client is the front door for programs that use an MCP server,
// whatever revision it speaks and however it is reached.
//
//	c, err := client.Connect(ctx, client.Options{Server: client.HTTP{URL: url}})
//	for tool, err := range c.Tools(ctx) { … }
//	result, err := c.CallTool(ctx, "echo", map[string]any{"message": "hi"})
//
// A Target says where the server is (HTTP, Command, Pipes, or a link of your
// own). Connect finds out how it talks, and the Client hides the difference:
//
//	Connect ─ server/discover ─► stateless (2026-07-28)
//	        └ initialize ──────► a session (2025-11-25 and earlier)
//	        └ GET, endpoint ───► HTTP+SSE (2024-11-05)
//
//	                     session                    stateless
//	Handlers             requests of the server     rounds of one request (rounds.go)
//	Listen               resources/subscribe, GET   subscriptions/listen (listen.go)
//	SetLevel             logging/setLevel           _meta of each request
//	StartTool, Wait      params.task, tasks/result  the extension, tasks/get (task.go)
//
// A request goes through converse (rounds of questions, rounds.go), send
// (repeats what may be repeated, retry.go) and call (one message on one
// conversation, call.go). When a conversation ends, reconnect.go makes the next
// one; moves.go says how things are.
//
// Results are read-only views: structs with what programs need, and Raw with
// the server's own bytes, of which nothing is lost.
//
// Below are client/peer (one leg's protocol) and client/httpleg (its
// transport), which proxies use directly. The package must not know what its
// user does with results, nor any model, user interface or token endpoint.
package client
