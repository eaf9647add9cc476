// Package server is an MCP server for programs to fill: tools, prompts,
// resources, templates and completions, served in every revision of the
// protocol by the same handlers.
//
// A [Server] implements dispatch.Server, so any front can put it on a wire:
// transport/streamable, transport/stdio, transport/httpsse, an in-memory pair.
// It owns the registries and what follows from them (capabilities, lists,
// pages, list_changed), the typed binding of Go types to schemas, the [Context]
// of a handler, and what a session or a listener asked to be told.
//
// A handler answers with one of a closed set: a result, a request for input
// ([InputRequired], or the error that [Context.Elicit] and its kin return), a
// task, or an error. What it asks the client is the same call in both eras: a
// reverse request where the revision has them, a round of input_required where
// it does not.
//
// It must not know HTTP, how messages are framed, or who checks tokens.
package server
