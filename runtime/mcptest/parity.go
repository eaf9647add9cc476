package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Ask is one request of a Parity run.
type Ask struct {
	Method string
	// Params is a raw object, empty for none.
	Params string
	// Progress asks for progress, Log for log messages of a level.
	Progress bool
	Log      string
	// Scrub, when set, removes from an answer what may differ between two runs
	// of the same request, such as a minted id.
	Scrub func(answer string) string
}

// Parity makes the same requests of the same client over every Way, in each
// revision that the way carries, against a fresh server each time, and fails
// where an answer, or what came before it on its behalf, is not the same as
// over the first way (P35). revisions nil means all of them.
func Parity(t *testing.T, server func() dispatch.Server, o client.Options, revisions []string, asks []Ask) {
	if revisions == nil {
		revisions = mcp.Revisions()
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			var first Way
			var want []string
			for _, way := range Ways() {
				if !way.Carries(revision) {
					continue
				}
				o.Revision = revision
				got := answers(t, Connect(t, server(), way, o), asks)
				if want == nil {
					first, want = way, got
					continue
				}
				for i := range asks {
					if got[i] != want[i] {
						t.Errorf("%s %s\n%s: %s\n%s: %s", asks[i].Method, asks[i].Params, first, want[i], way, got[i])
					}
				}
			}
		})
	}
}

// answers makes the requests one after the other.
func answers(t *testing.T, c *client.Client, asks []Ask) []string {
	t.Helper()
	out := make([]string, 0, len(asks))
	for _, ask := range asks {
		ctx, stop := context.WithTimeout(context.Background(), Patience)
		answer := strings.Join(ask.make(ctx, t, c), "\n")
		stop()
		if ask.Scrub != nil {
			answer = ask.Scrub(answer)
		}
		out = append(out, answer)
	}
	return out
}

// make makes one request and returns what came of it: notifications, then the
// answer.
func (a Ask) make(ctx context.Context, t *testing.T, c *client.Client) []string {
	var mu sync.Mutex
	var heard []string
	hear := func(method string, params json.RawMessage) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, method+" "+canonical(t, params))
	}
	opts := []client.CallOption{client.OnNotification(func(n client.Notification) {
		if n.Method != mcp.NotifyProgress {
			hear(n.Method, n.Params)
		}
	})}
	if a.Progress {
		opts = append(opts, client.OnProgress(func(p client.Progress) {
			hear(mcp.NotifyProgress, fmt.Appendf(nil, `[%v,%v,%q]`, p.Progress, p.Total, p.Message))
		}))
	}
	if a.Log != "" {
		opts = append(opts, client.LogAt(a.Log))
	}
	var params any
	if a.Params != "" {
		params = json.RawMessage(a.Params)
	}
	result, err := c.Call(ctx, a.Method, params, opts...)
	mu.Lock()
	defer mu.Unlock()
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		return append(heard, fmt.Sprintf("error %d %s %s", rpc.Code, rpc.Message, rpc.Data))
	case err != nil:
		return append(heard, "failed: "+err.Error())
	}
	return append(heard, canonical(t, result))
}

func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	if raw == nil {
		return ""
	}
	return Canonical(t, raw)
}
