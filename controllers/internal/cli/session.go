package cli

import (
	"context"
	"encoding/json"
)

// session is a conversation with one MCP server, of whatever revision.
type session interface {
	// revision is what the two sides speak.
	revision() string
	// tools lists all tools, raw, over all pages.
	tools(ctx context.Context) ([]json.RawMessage, error)
	// call calls a tool. args is a JSON object; the result is raw. An error is
	// the server's refusal or a failure of the way to it.
	call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error)
	close() error
}
