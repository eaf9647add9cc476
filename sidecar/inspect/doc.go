// Package inspect looks at any MCP server through its URL, as a client of each
// revision would, and tells what is there. It owns the report and its text; it
// must not judge (sidecar/lint does) and knows no commands or flags.
package inspect
