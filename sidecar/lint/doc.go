// Package lint checks a running MCP server through its URL: what the protocol
// requires on the request path, and what makes a server usable by a model. It
// owns the rules (rules.go; docs/reference/lint.md is made from them) and what
// finds them broken.
//
// What the protocol says is a failure or a warning. What is a matter of
// judgement is a note, never more (P35). Nothing is called that could have side
// effects: tools only where they say that they only read.
package lint
