// Package mcp is the protocol as data: revisions and what each of them has,
// bindings, methods, capabilities, metadata keys and error codes.
//
// It is the only place that compares revision strings (D1). It decides
// nothing by itself, does no I/O, and must not know transports, sessions or
// who is asking.
package mcp
