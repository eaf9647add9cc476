// Package workload is a server with everything that the conformance suite asks
// for by name, built on runtime/server as anybody's would be: tools, prompts,
// resources and tasks, the same for every revision, transport and era.
//
// It owns the features and their contents, which are the suite's. How they look
// on the wire is the library's doing; a handler here must not help it.
package workload
