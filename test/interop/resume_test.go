//go:build peers

package interop

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W9.6, P2, SEP-1699: a call whose connection breaks is taken up again by our
// client, where the server keeps events.
func TestOurClientResumes(t *testing.T) {
	for name, tc := range map[string]struct{ args []string }{
		"go-sdk": {[]string{"-sdk", "go-sdk", "-over", "http"}},
		"mcp-go": {[]string{"-sdk", "mcp-go", "-over", "http"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, cutter := through(t, started(t, fromRoot(goServer), tc.args...))
			our(t, url, cutter, call{"count", map[string]any{"n": 200}, "counted 200"})
		})
	}
	t.Run("our own server", func(t *testing.T) {
		t.Parallel()
		url, cutter := through(t, served(t))
		our(t, url, cutter, call{"test_tool_with_progress", nil, "Done"})
		our(t, url, nil, call{"test_reconnection", nil, ""})
	})
}

// our calls a tool and cuts the connection at its first progress.
func our(t *testing.T, url string, cutter *cutter, one call) {
	ctx := bounded(t)
	var resumed atomic.Int64
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := client.Connect(ctx, client.Options{
		Server:   client.HTTP{URL: url, Client: &http.Client{Transport: transport}},
		Revision: mcp.Revision20251125,
		Observer: client.Observer{Resumed: func() { resumed.Add(1) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	last := 0.0
	r, err := c.CallTool(ctx, one.name, one.args, client.OnProgress(func(p client.Progress) {
		if last == 0 && cutter != nil {
			cutter.cut()
		}
		last = p.Progress
	}))
	if err != nil || !strings.Contains(r.Text(), one.want) {
		t.Fatalf("%v, %v after %v", r, err, last)
	}
	if resumed.Load() == 0 {
		t.Error("nothing was taken up again")
	}
	transport.CloseIdleConnections() // some were cut; whether a call on one of them ran nobody could know
	one.check(ctx, t, c, "once more")
}

func eventually(ctx context.Context, t *testing.T, what string, f func() bool) {
	t.Helper()
	for !f() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
