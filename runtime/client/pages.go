package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxPages and maxListBytes bound a list (R2, P18).
const (
	maxPages     = 1000
	maxListBytes = 64 << 20
)

// list is one paginated method with the way its items are read.
type list[T any] struct {
	method, member string
	read           func(raw json.RawMessage) T
}

// all yields the items of every page in the server's order. An error is the
// last thing that it yields.
func all[T any](ctx context.Context, c *Client, l list[T], opts []CallOption) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		err := c.pages(ctx, l.method, l.member, options(opts), func(item []byte) bool { return yield(l.read(item), nil) })
		if err != nil {
			yield(none, err)
		}
	}
}

// collect is all of a list at once.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for item, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// pages calls each with every item of a list until it returns false. The list
// ends without a cursor, with one that leads back, or with a page like the one
// before; an empty cursor ends it where revisions allowed that reading (R2).
func (c *Client) pages(ctx context.Context, method, list string, opts callOptions, each func(item []byte) bool) error {
	var params, before []byte
	cursors := map[string]bool{}
	total := 0
	for range maxPages {
		r := &request{method: method, params: params, opts: opts, tasks: method == mcp.MethodTasksList}
		page, err := c.converse(ctx, r)
		if err != nil {
			return err
		}
		if before != nil && bytes.Equal(page, before) {
			return nil
		}
		if total += len(page); total > maxListBytes {
			return fmt.Errorf("client: %s has more than %d bytes", method, maxListBytes)
		}
		before = page
		items, _ := strictjson.Get(page, list)
		goOn := true
		if !strictjson.Elements(items, func(item []byte) bool { goOn = each(item); return goOn }) {
			return fmt.Errorf("client: %s: the answer has no list of %s", method, list)
		}
		cursor := member(page, "nextCursor")
		if !goOn || cursor == nil || cursors[string(cursor)] || string(cursor) == `""` && c.Profile().Handshake {
			return nil
		}
		cursors[string(cursor)] = true
		var o object
		o.set("cursor", cursor)
		params = o.bytes()
	}
	return fmt.Errorf("client: %s has more than %d pages", method, maxPages)
}
