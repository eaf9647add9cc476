// Package server is an MCP server for programs to fill: tools, prompts,
// resources, templates and completions, served in every revision of the
// protocol by the same handlers.
//
//	s := server.New(server.Info{Name: "greeter", Version: "1.0"}, server.Options{})
//	err := server.AddTool(s, server.Tool{Name: "greet"}, func(c *server.Context, in in) (string, error) {
//		return "Hello, " + in.Name + "!", nil
//	})
//	front := &streamable.Server{Handler: s, Keys: keys, ParamSchema: s.ParamSchema}
//
// A [Server] implements dispatch.Server, so any front can put it on a wire:
// transport/streamable, transport/stdio, transport/httpsse, transport/memory.
//
// # What is served
//
// [AddTool], [AddPrompt] and [AddTemplate] take Go types: their schemas are made
// of them (package schema), arguments are validated before the handler runs and
// results held against what was promised. The methods of the same names, and
// [Server.AddResource] and [Server.AddCompletion], take raw handlers;
// [Server.Handle] takes a whole method by hand. Everything can be added and
// removed at any time: capabilities follow, lists are in order and paged by
// sealed cursors, clients that may see a change are told once it has settled.
// [Tool.Visible] and [Options.Visible] say who sees what.
//
// # How a handler answers
//
// With one of a closed set: a result, a request for input ([InputRequired]), a
// task, or an error. An error of a tool is for the model to read; a
// *jsonrpc.Error is one of the protocol; [CapabilityError], [URLRequired] and
// [ErrNotFound] become what the revision has for them.
//
// # How a handler asks
//
// [Context.Elicit], [Context.ElicitURL], [Context.Sample] and [Context.Roots]
// are the same in both eras. Where the revision has reverse calls they wait for
// the answer. On 2026-07-28 they return it when the client has sent it, and
// otherwise an error that the handler returns as well: the client is told what is
// wanted, and its next request runs the handler again from the top. So work that
// must not be done twice comes after the questions, or leaves a mark with
// [Context.SetState]. [Context.Need] asks several things at once; an answer that
// does not fit is an [AnswerError], after which the handler may ask again.
//
//	legacy      handler ─ Elicit ─► elicitation/create ─► client
//	                    ◄───────── answer ◄──────────────
//	2026-07-28  handler ─ Elicit ─► *NeedInput ─► input_required, requestState
//	            handler ◄─ again, with inputResponses and requestState
//
// A requestState is sealed: principal, method, parameters, age, the answers so
// far and the handler's state. Nobody can read it, change it or use it for
// anything else.
//
// # What a client hears besides
//
// [Context.Progress], [Context.Log] and [Context.Slog] belong to the request;
// [Context.Detach] is for work that outlives it. Sessions hear of changes, and
// listens of 2026-07-28 of those that they asked for ([Server.ResourceUpdated],
// [Server.Broadcast]). Telling never waits for a reader.
//
// The package must not know HTTP, how messages are framed, or who checks tokens.
package server
