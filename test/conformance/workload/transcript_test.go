package workload_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// patience bounds one step.
const patience = 30 * time.Second

// given are arguments of tools that want some; the others get none. A name that
// is not there is called too: what is wrong must be the same as well.
var given = map[string]string{
	"test_sampling":            `{"prompt":"Say something"}`,
	"test_elicitation":         `{"message":"Who are you?"}`,
	"test_header_parameter":    `{"region":"Zürich ☃","query":"q"}`,
	"json_schema_2020_12_tool": `{"name":"n","contactMethod":"phone","phone":"1"}`,
	"greet":                    `{"name":"World"}`,
	"slow_compute":             `{"seconds":0,"label":"parity"}`,
	"confirm_delete":           `{"filename":"a.txt"}`,
}

// book writes down what happens, in order.
type book struct {
	mu    sync.Mutex
	lines []string
}

// random are parts that differ from run to run.
var random = regexp.MustCompile(`"(taskId|createdAt|lastUpdatedAt|requestState|nextCursor)":"[^"]*"`)

func (b *book) add(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, random.ReplaceAllString(fmt.Sprintf(format, args...), `"$1":"…"`))
}

// answered writes down a raw result, or an error by what the protocol says of
// it.
func (b *book) answered(what string, raw json.RawMessage, err error) {
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		b.add("%s: error %d %s %s", what, rpc.Code, rpc.Message, rpc.Data)
	case err != nil:
		b.add("%s: failed: %v", what, err)
	default:
		b.add("%s: %s", what, raw)
	}
}

// transcript uses all that the workload has and returns what came of it.
func transcript(t *testing.T, target client.Target, revision string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	b := &book{}
	changed := make(chan string, 16)
	c, err := client.Connect(ctx, client.Options{
		Server: target, Revision: revision, Name: "parity", Version: "1", Tasks: true, Handlers: b.handlers(changed),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	b.add("server: %s", c.Server().Raw)
	if err := c.SetLevel(ctx, "debug"); err != nil {
		t.Fatal(err)
	}
	b.tools(ctx, t, c)
	b.rest(ctx, t, c)
	b.changes(ctx, t, c, changed)
	return b.lines
}

// handlers are a user and a model who always say the same.
func (b *book) handlers(changed chan string) client.Handlers {
	return client.Handlers{
		Sample: func(_ context.Context, r client.SampleRequest) (client.SampleResult, error) {
			b.add("asked for a sample: %s", r.Raw)
			return client.SampleResult{Model: "m", Text: "Paris", StopReason: "endTurn"}, nil
		},
		Elicit: func(_ context.Context, r client.ElicitRequest) (client.ElicitResult, error) {
			content := map[string]any{}
			for _, f := range r.Fields() {
				switch {
				case f.Default != nil || !f.Required:
				case f.Type == "boolean":
					content[f.Name] = true
				default:
					content[f.Name] = "a@example.com"
				}
			}
			return client.ElicitResult{Action: client.Accept, Content: content}, nil
		},
		Roots: func(context.Context) ([]client.Root, error) { return []client.Root{{URI: "file:///parity"}}, nil },
		Notification: func(n client.Notification) {
			if strings.HasSuffix(n.Method, "/list_changed") {
				select {
				case changed <- n.Method:
				default:
				}
			}
		},
	}
}

func (b *book) tools(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	tools, err := c.ListTools(ctx)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"no_such_tool"}
	for _, tool := range tools {
		b.add("tool: %s", tool.Raw)
		names = append(names, tool.Name)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "test_trigger_") {
			continue // see changes
		}
		raw := json.RawMessage(given[name])
		if raw == nil {
			raw = json.RawMessage(`{}`)
		}
		var told []string
		r, err := c.CallTool(ctx, name, raw,
			client.LogAt("debug"),
			client.OnProgress(func(client.Progress) {}),
			client.OnNotification(func(n client.Notification) { told = append(told, n.Method+" "+withoutToken(n.Params)) }))
		for _, line := range told {
			b.add("%s told: %s", name, line)
		}
		if err != nil {
			b.answered(name, nil, err)
			continue
		}
		b.answered(name, r.Raw, nil)
	}
	// Arguments that do not fit, of a tool that wants some.
	r, err := c.CallTool(ctx, "greet", json.RawMessage(`{"name":7}`))
	if err == nil {
		b.answered("greet 7", r.Raw, nil)
	} else {
		b.answered("greet 7", nil, err)
	}
}

// tokens are the client's own count of requests.
var tokens = regexp.MustCompile(`"progressToken":("[^"]*"|\d+)`)

func withoutToken(params json.RawMessage) string {
	return tokens.ReplaceAllString(string(params), `"progressToken":"…"`)
}

func (b *book) rest(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	for _, list := range []string{mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodTemplatesList} {
		raw, err := c.Call(ctx, list, nil)
		b.answered(list, raw, err)
	}
	calls := []struct{ method, params string }{
		{mcp.MethodPromptsGet, `{"name":"test_simple_prompt"}`},
		{mcp.MethodPromptsGet, `{"name":"test_prompt_with_arguments","arguments":{"arg1":"a","arg2":"b"}}`},
		{mcp.MethodPromptsGet, `{"name":"test_prompt_with_arguments"}`},
		{mcp.MethodPromptsGet, `{"name":"test_prompt_with_embedded_resource","arguments":{"resourceUri":"test://example-resource"}}`},
		{mcp.MethodPromptsGet, `{"name":"test_prompt_with_image"}`},
		{mcp.MethodPromptsGet, `{"name":"test_input_required_result_prompt"}`},
		{mcp.MethodPromptsGet, `{"name":"no such prompt"}`},
		{mcp.MethodResourcesRead, `{"uri":"test://static-text"}`},
		{mcp.MethodResourcesRead, `{"uri":"test://static-binary"}`},
		{mcp.MethodResourcesRead, `{"uri":"test://template/%C3%A9/data"}`},
		{mcp.MethodResourcesRead, `{"uri":"test://nonexistent"}`},
		{mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},"argument":{"name":"arg1","value":"par"}}`},
		{mcp.MethodComplete, `{"ref":{"type":"ref/resource","uri":"test://template/{id}/data"},"argument":{"name":"id","value":"12"}}`},
		{mcp.MethodToolsList, `{"cursor":"forged"}`},
		{"vendor/unknown", `{}`},
	}
	for _, call := range calls {
		raw, err := c.Call(ctx, call.method, json.RawMessage(call.params))
		b.answered(call.method+" "+call.params, raw, err)
	}
	b.answered("ping", nil, c.Ping(ctx))
}

// changes are told on a stream of their own, so only what is told is compared.
func (b *book) changes(ctx context.Context, t *testing.T, c *client.Client, changed chan string) {
	t.Helper()
	s, err := c.Listen(ctx, client.Filter{Tools: true, Prompts: true}, func(n client.Notification) {
		select {
		case changed <- n.Method:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"test_trigger_tool_change", "test_trigger_prompt_change"} {
		r, err := c.CallTool(ctx, tool, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.answered(tool, r.Raw, nil)
	}
	want := []string{mcp.NotifyToolsChanged, mcp.NotifyPromptsChanged}
	for len(want) > 0 {
		select {
		case method := <-changed:
			want = slices.DeleteFunc(want, func(m string) bool { return m == method })
		case <-ctx.Done():
			t.Fatalf("never heard of %v", want)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
