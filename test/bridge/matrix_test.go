package bridge

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// workload is one that a sidecar is put in front of.
type workload struct {
	revision, binding string
}

const olderBinding = "HTTP+SSE"

func (w workload) String() string { return w.revision + " over " + w.binding }

func workloads() (all []workload) {
	for _, revision := range mcp.Revisions() {
		all = append(all, workload{revision, "http"}, workload{revision, "stdio"})
	}
	return append(all, workload{mcp.Revision20241105, olderBinding})
}

// B19.1, B19.5: every client in front of every workload.
// B3, B4, B6, B7, B8, B9, B10, B11, B12, B16.
func TestEveryClientWithEveryWorkload(t *testing.T) {
	for _, back := range workloads() {
		t.Run(back.String(), func(t *testing.T) {
			t.Parallel()
			url := sidecar(t, back)
			for _, front := range mcp.Revisions() {
				t.Run("client "+front, func(t *testing.T) {
					converse(t, client.HTTP{URL: url, Client: &http.Client{Transport: transport(t)}, NoSSE: true}, front, back.revision)
				})
			}
			t.Run("client over HTTP+SSE", func(t *testing.T) {
				converse(t, older{client.HTTP{URL: url, Client: &http.Client{Transport: transport(t)}}}, mcp.Revision20241105, back.revision)
			})
		})
	}
}

// sidecar starts one in front of a workload, whose messages are recorded, and
// returns its URL.
func sidecar(t *testing.T, w workload) string {
	t.Helper()
	args := []string{"run", "--http-sse", "--listen", "127.0.0.1:0"}
	flags := []string{"-revisions", w.revision, "-page", "7", "-record", recordedAt(t, toWorkloads, "-{pid}")}
	switch w.binding {
	case "stdio":
		args = append(append(args, "--stdio", "--", filepath.Join(bin, "conformance-workload"), "-stdio"), flags...)
	case olderBinding:
		args = append(args, "--http", launch(t, "conformance-workload", append(flags, "-http", "127.0.0.1:0", "-older")...))
	default:
		args = append(args, "--http", launch(t, "conformance-workload", append(flags, "-http", "127.0.0.1:0")...))
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
		return client.ElicitResult{Action: client.Accept, Content: map[string]any{"response": "elicited here", "username": "u", "email": "e@example.com", "confirm": true}}, nil
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
	reads(ctx, t, c, front, back)
	text(ctx, t, c, "test_simple_text", nil, "")
	progress(ctx, t, c)
	// What was not there yet in a revision, no server of it offers or asks.
	text(ctx, t, c, "test_sampling", map[string]string{"prompt": "p"}, "sampled here")
	if min(front, back) >= "2025-06-18" {
		text(ctx, t, c, "test_elicitation", map[string]string{"message": "m"}, "elicited here")
	}
	changes(ctx, t, c)
	updates(ctx, t, c)
	tasks(ctx, t, c, min(front, back) >= "2025-11-25")
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

// reads takes what the lists have.
func reads(ctx context.Context, t *testing.T, c *client.Client, front, back string) {
	t.Helper()
	if p, err := c.GetPrompt(ctx, "test_prompt_with_arguments", map[string]string{"arg1": "one", "arg2": "two"}); err != nil || len(p.Messages) == 0 || !strings.Contains(string(p.Raw), "one") {
		t.Errorf("a prompt: %+v, %v", p, err)
	}
	for uri, want := range map[string]string{
		"test://static-text": "static text", "test://template/9/data": "Data for ID: 9", "test://static-binary": `"blob"`,
	} {
		if r, err := c.ReadResource(ctx, uri); err != nil || len(r.Contents) != 1 || !strings.Contains(string(r.Raw), want) {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	values, err := c.Complete(ctx, client.Ref{Template: "test://template/{id}/data"}, "id", "1", nil)
	switch {
	case front == mcp.Revision20260728 && back == mcp.Revision20241105:
		// It does not say that it completes, so nobody is offered that (B4.3).
		if code, _ := client.ErrorCode(err); code != -32601 {
			t.Errorf("a completion that is not offered: %+v, %v", values, err)
		}
	case err != nil || len(values.Values) != 2 || values.Values[0] != "123":
		t.Errorf("a completion: %+v, %v", values, err)
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

// updates hears of a resource that changed, as often as it does while it is
// subscribed to.
func updates(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	const uri = "test://watched-resource"
	heard := make(chan string, 16)
	s, err := c.Listen(ctx, client.Filter{URIs: []string{uri}}, func(n client.Notification) { heard <- n.Method + string(n.Params) })
	if err != nil {
		t.Errorf("subscribing: %v", err)
		return
	}
	defer s.Close()
	if honoured := s.Honoured().URIs; len(honoured) != 1 || honoured[0] != uri {
		t.Errorf("honoured %q", honoured)
	}
	for range 2 {
		text(ctx, t, c, "test_trigger_resource_update", nil, "")
		select {
		case n := <-heard:
			if !strings.HasPrefix(n, mcp.NotifyResourceUpdated) || !strings.Contains(n, `"`+uri+`"`) {
				t.Errorf("heard %s", n)
			}
		case <-ctx.Done():
			t.Error("heard nothing of a resource that changed")
		}
	}
}

// tasks runs tools as tasks, where both sides know them; elsewhere they run at
// once, but for those that must be tasks.
func tasks(ctx context.Context, t *testing.T, c *client.Client, known bool) {
	t.Helper()
	start := func(tool string, arguments any) (*client.Task, *client.ToolResult, error) {
		task, err := c.StartTool(ctx, tool, arguments, client.TaskOptions{TTL: time.Minute})
		if err != nil {
			return nil, nil, err
		}
		if known && task.ID() == "" {
			t.Errorf("%s ran at once", tool)
		}
		r, err := task.Wait(ctx)
		return task, r, err
	}
	if _, r, err := start("slow_compute", map[string]any{"seconds": 0.2, "label": "l"}); err != nil || r.IsError || !strings.Contains(r.Text(), "Computed") {
		t.Errorf("slow_compute: %+v, %v", r, err)
	}
	if !known {
		return
	}
	task, r, err := start("confirm_delete", map[string]any{"filename": "f"})
	if err != nil || r.IsError || !strings.Contains(r.Text(), "Deleted f") {
		t.Errorf("confirm_delete: %+v, %v", r, err)
	}
	if err == nil {
		if s, err := task.State(ctx); err != nil || s.Status != client.TaskCompleted {
			t.Errorf("a task that is over is %+v: %v", s, err)
		}
	}
	if _, r, err := start("failing_job", nil); err != nil || !r.IsError {
		t.Errorf("failing_job: %+v, %v", r, err)
	}
	if _, _, err := start("protocol_error_job", nil); err == nil {
		t.Error("protocol_error_job has a result")
	} else if code, _ := client.ErrorCode(err); code != -32603 {
		t.Errorf("protocol_error_job: %v", err)
	}
	task, err = c.StartTool(ctx, "slow_compute", map[string]any{"seconds": 20}, client.TaskOptions{TTL: time.Minute})
	if err != nil {
		t.Errorf("starting a task: %v", err)
		return
	}
	if err := task.Cancel(ctx); err != nil {
		t.Errorf("cancelling a task: %v", err)
	}
	if _, err := task.Wait(ctx); !errors.Is(err, client.ErrTaskCancelled) {
		t.Errorf("a task that was cancelled: %v", err)
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
