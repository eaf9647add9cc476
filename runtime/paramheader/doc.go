// Package paramheader repeats arguments of a tool call in HTTP fields: what a
// tool's inputSchema asks for with x-mcp-header annotations (W15.13), the text
// of a value in a field (W15.19, W15.20), and the comparison of fields with
// arguments (W15.17). Client and server use the same code, so that they agree.
//
// It knows JSON text and field values; it must not know HTTP requests, tools or
// where a schema comes from. Everything here is a pure function and safe for
// concurrent use.
package paramheader
