package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// visitPause is how long a user gets to finish at an address that was agreed to
// before the request is made once more.
const visitPause = 3 * time.Second

// visits counts how often each address was named by one request's errors.
type visits map[string]int

// visit serves error -32042: addresses to be visited before the request can
// succeed (W30.14). Nil means that the user agreed to all of them. The same
// address once more is given a moment; a third time the error stands (P28).
func (c *Client) visit(ctx context.Context, rpc *jsonrpc.Error, seen visits, otherwise error) error {
	var list []ElicitURLRequest
	known := 0
	each(member(rpc.Data, "elicitations"), func(one json.RawMessage) {
		r := urlRequest(one)
		if seen[r.URL]++; seen[r.URL] > 1 {
			known++
		}
		if seen[r.URL] > 2 {
			known = maxQuestions + 1
		}
		list = append(list, r)
	})
	switch {
	case len(list) == 0 || len(list) > maxQuestions || known > maxQuestions:
		return otherwise
	case known == len(list):
		return pause.For(ctx, visitPause)
	}
	for _, r := range list {
		if seen[r.URL] > 1 {
			continue
		}
		action, err := c.opts.Handlers.ElicitURL(ctx, r)
		if err == nil && action != Accept {
			err = ErrRejected
		}
		if err != nil {
			return &InputError{Key: r.ID, Method: mcp.MethodElicit, Err: errors.Join(err, otherwise)}
		}
	}
	return nil
}
