package bridge

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// B3, B4, B6, B7, B8, B9, B10, B11, B16: every client in front of every workload.
func TestEveryClientWithEveryWorkload(t *testing.T) {
	for _, back := range mcp.Revisions() {
		for _, binding := range []string{"http", "stdio"} {
			t.Run(back+" over "+binding, func(t *testing.T) {
				t.Parallel()
				url := sidecar(t, back, binding)
				for _, front := range mcp.Revisions() {
					t.Run("client "+front, func(t *testing.T) { converse(t, client.HTTP{URL: url, NoSSE: true}, front, back) })
				}
				t.Run("client over HTTP+SSE", func(t *testing.T) { converse(t, older{client.HTTP{URL: url}}, mcp.Revision20241105, back) })
			})
		}
	}
}

func sidecar(t *testing.T, back, binding string) string {
	args := []string{"run", "--http-sse", "--listen", "127.0.0.1:0"}
	if binding == "stdio" {
		args = append(args, "--stdio", "--", filepath.Join(bin, "conformance-workload"), "-stdio", "-revisions", back)
	} else {
		args = append(args, "--http", launch(t, "conformance-workload", "-http", "127.0.0.1:0", "-revisions", back))
	}
	return launch(t, "mcp-sidecar", args...)
}

// older reaches a server over HTTP+SSE only (P17).
type older struct{ client.HTTP }

func (o older) Binding() mcp.Binding { return mcp.HTTPSSE }

func (o older) Dial(ctx context.Context, w client.Wiring) (peer.Link, error) {
	return o.DialOlder(ctx, w)
}

// OlderBinding leaves no other way.
func (older) OlderBinding() (mcp.Binding, bool) { return mcp.HTTPSSE, false }

// capable answers what servers ask.
var capable = client.Handlers{
	Sample: func(context.Context, client.SampleRequest) (client.SampleResult, error) {
		return client.SampleResult{Model: "m", Text: "sampled here"}, nil
	},
	Elicit: func(context.Context, client.ElicitRequest) (client.ElicitResult, error) {
		return client.ElicitResult{Action: client.Accept, Content: map[string]any{"response": "elicited here", "username": "u", "email": "e@example.com"}}, nil
	},
}

// converse does what both sides know.
func converse(t *testing.T, at client.Target, front, back string) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	c, err := client.Connect(ctx, client.Options{Server: at, Revision: front, Handlers: capable, Reconnect: client.Reconnect{Never: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Revision() != front {
		t.Fatalf("revision %s", c.Revision())
	}
	lists(ctx, t, c)
	text(ctx, t, c, "test_simple_text", nil, "")
	progress(ctx, t, c)
	// What was not there yet in a revision, no server of it offers or asks.
	text(ctx, t, c, "test_sampling", map[string]string{"prompt": "p"}, "sampled here")
	if min(front, back) >= "2025-06-18" {
		text(ctx, t, c, "test_elicitation", map[string]string{"message": "m"}, "elicited here")
	}
	changes(ctx, t, c)
	failures(ctx, t, c)
	cancel(ctx, t, c)
}

func lists(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	tools, err := c.ListTools(ctx)
	if err != nil || len(tools) < 10 {
		t.Errorf("%d tools: %v", len(tools), err)
	}
	if !slices.IsSortedFunc(tools, func(a, b client.Tool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the tools are not in the server's order")
	}
	for name, count := range map[string]func() (int, error){
		"prompts": func() (n int, err error) {
			for _, e := range c.Prompts(ctx) {
				n++
				err = e
			}
			return
		},
		"resources": func() (n int, err error) {
			for _, e := range c.Resources(ctx) {
				n++
				err = e
			}
			return
		},
		"templates": func() (n int, err error) {
			for _, e := range c.Templates(ctx) {
				n++
				err = e
			}
			return
		},
	} {
		if n, err := count(); err != nil || n == 0 {
			t.Errorf("%d %s: %v", n, name, err)
		}
	}
}

func text(ctx context.Context, t *testing.T, c *client.Client, tool string, arguments any, want string) {
	t.Helper()
	r, err := c.CallTool(ctx, tool, arguments)
	if err != nil || r.IsError || r.Text() == "" || !strings.Contains(r.Text()+string(r.Raw), want) {
		t.Errorf("%s: %v, want %q: %+v", tool, err, want, r)
	}
}

func progress(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	var seen []float64
	_, err := c.CallTool(ctx, "test_tool_with_progress", nil, client.OnProgress(func(p client.Progress) { seen = append(seen, p.Progress) }))
	if err != nil || len(seen) < 2 || !slices.IsSorted(seen) {
		t.Errorf("progress %v: %v", seen, err)
	}
}

// changes hears of a list that changed.
func changes(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	heard := make(chan string, 16) // more than there are
	s, err := c.Listen(ctx, client.Filter{Tools: true}, func(n client.Notification) {
		select {
		case heard <- n.Method:
		default: // one is enough
		}
	})
	if err != nil {
		t.Errorf("listening: %v", err)
		return
	}
	defer s.Close()
	text(ctx, t, c, "test_trigger_tool_change", nil, "")
	select {
	case method := <-heard:
		if method != mcp.NotifyToolsChanged {
			t.Errorf("heard %s", method)
		}
	case <-ctx.Done():
		t.Error("heard nothing of a list that changed")
	}
}

func failures(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	if r, err := c.CallTool(ctx, "test_error_handling", nil); err != nil || !r.IsError {
		t.Errorf("a tool that fails: %+v, %v", r, err)
	}
	_, err := c.CallTool(ctx, "there_is_no_such_tool", nil)
	if code, ok := client.ErrorCode(err); !ok || code != -32602 {
		t.Errorf("an unknown tool: %v", err)
	}
	if _, err := c.ReadResource(ctx, "test://there/is/none"); !client.IsNotFound(err) {
		t.Errorf("a missing resource: %v", err)
	}
}

// cancel gives a call up; the conversation goes on.
func cancel(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	if _, err := c.CallTool(short, "slow_compute", map[string]any{"seconds": 20}); err == nil {
		t.Error("a call of 20 seconds was answered at once")
	}
	text(ctx, t, c, "test_simple_text", nil, "")
}
