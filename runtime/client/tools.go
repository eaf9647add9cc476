package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxPages bounds a list (R2).
const maxPages = 1000

// ErrInputRequired: the tool asks something back that this call cannot answer.
var ErrInputRequired = errors.New("client: the tool asks for input")

// Tool is one entry of tools/list.
type Tool struct {
	Name string
	// Raw is the whole entry.
	Raw []byte
}

// ListTools returns all tools over all pages, in the server's order. Tools of a
// stateless server whose x-mcp-header annotations are invalid are left out
// (W15.15).
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) {
	var all []Tool
	next := map[string]mirrors{}
	err := c.pages(ctx, mcp.MethodToolsList, "tools", func(raw []byte) {
		value, _ := strictjson.Get(raw, "name")
		name, ok := strictjson.String(value)
		if !ok {
			return
		}
		if !c.profile.Handshake {
			schema, _ := strictjson.Get(raw, "inputSchema")
			m, valid := mirrored(schema)
			if !valid {
				return
			}
			next[name] = m
		}
		all = append(all, Tool{Name: name, Raw: raw})
	})
	if err != nil {
		return nil, err
	}
	c.schemas.put(next)
	return all, nil
}

// pages calls each with every item of a list. The list ends without a cursor,
// with one that leads back, or with a page like the one before; an empty
// cursor ends it where revisions allowed that reading (R2).
func (c *Client) pages(ctx context.Context, method, member string, each func(item []byte)) error {
	var params, before []byte
	cursors := map[string]bool{}
	for range maxPages {
		page, err := c.Call(ctx, method, params)
		if err != nil {
			return err
		}
		if before != nil && bytes.Equal(page, before) {
			return nil
		}
		before = page
		items, _ := strictjson.Get(page, member)
		if !strictjson.Elements(items, func(item []byte) bool { each(item); return true }) {
			return fmt.Errorf("client: %s: the answer has no list of %s", method, member)
		}
		cursor, ok := strictjson.Get(page, "nextCursor")
		if !ok || strictjson.IsNull(cursor) || cursors[string(cursor)] || c.profile.Handshake && string(cursor) == `""` {
			return nil
		}
		cursors[string(cursor)] = true
		params = append(append([]byte(`{"cursor":`), cursor...), '}')
	}
	return fmt.Errorf("client: %s has more than %d pages", method, maxPages)
}

// CallTool calls a tool. arguments is a raw object, or nil for none. The result
// is raw; a failure of the tool itself is a result with isError. Errors as of
// Call, and ErrInputRequired.
func (c *Client) CallTool(ctx context.Context, name string, arguments []byte) ([]byte, error) {
	params := append(strictjson.Quote([]byte(`{"name":`), name), '}')
	if arguments != nil {
		if !strictjson.IsObject(arguments) {
			return nil, errors.New("client: arguments must be a JSON object")
		}
		params = append(append(append(params[:len(params)-1], `,"arguments":`...), arguments...), '}')
	}
	raw, err := c.call(ctx, mcp.MethodToolsCall, params, c.schemas.fields(name, arguments))
	if rpc := rpcError(err); rpc != nil && rpc.Code == mcp.CodeHeaderMismatch {
		// The schema that says which arguments are repeated in headers is not
		// known, or has changed (W15.21). A refused request was not run.
		if _, err := c.ListTools(ctx); err != nil {
			return nil, err
		}
		raw, err = c.call(ctx, mcp.MethodToolsCall, params, c.schemas.fields(name, arguments))
	}
	if err != nil {
		return nil, err
	}
	if kind, _ := strictjson.Get(raw, "resultType"); string(kind) == `"input_required"` {
		return nil, ErrInputRequired
	}
	return raw, nil
}
