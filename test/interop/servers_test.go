//go:build peers

package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// tools says how to make a server do something; empty names: it cannot.
type tools struct {
	echo      call // answers with "hi"
	progress  call // reports progress
	long      call // reports progress for longer than a reconnection takes
	slow      call // takes until it is cancelled
	cancelled string
	elicit    call // answers say what the handlers below said
	sample    call
	roots     call
}

type call struct {
	name string
	args map[string]any
	want string // in the text of the result
}

var ourTools = tools{
	echo:      call{"echo", map[string]any{"message": "hi"}, "hi"},
	progress:  call{"count", map[string]any{"n": 5}, "counted 5"},
	slow:      call{"wait", nil, ""},
	cancelled: "cancels",
	elicit:    call{"ask", nil, "accept peer"},
	sample:    call{"sample", nil, "peer-model sampled"},
	roots:     call{"where", nil, "file:///peer"},
}

// deaf is a server whose tools do not hear that the stream was closed (go-sdk
// 1.8.0 without sessions): the client has gone, which is all that it can say.
func deaf(t tools) tools {
	t.cancelled = ""
	return t
}

// withoutReverse is a server that has no way to ask (mcp-go 1.2.1 over
// HTTP+SSE).
func withoutReverse(t tools) tools {
	t.elicit, t.sample, t.roots = call{}, call{}, call{}
	return t
}

var everything = tools{
	echo:     call{"echo", map[string]any{"message": "hi"}, "hi"},
	progress: call{"trigger-long-running-operation", map[string]any{"duration": 1, "steps": 4}, "completed"},
	slow:     call{"trigger-long-running-operation", map[string]any{"duration": 600, "steps": 1}, ""},
	elicit:   call{"trigger-elicitation-request", nil, "peer"},
	sample:   call{"trigger-sampling-request", map[string]any{"prompt": "hi", "maxTokens": 5}, "sampled"},
	roots:    call{"get-roots-list", nil, "file:///peer"},
}

// foreign is a server of others and how it is reached.
type foreign struct {
	target   func(t *testing.T) client.Target
	revision string
	binding  mcp.Binding
	tools    tools
	prompt   string
	resource string
}

func goHTTP(args ...string) func(t *testing.T) client.Target {
	return func(t *testing.T) client.Target {
		url := started(t, fromRoot(goServer), args...)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		return client.HTTP{URL: url, Client: &http.Client{Transport: record.Transport(transport, log(t))}}
	}
}

func command(path string, args ...string) func(t *testing.T) client.Target {
	return func(t *testing.T) client.Target {
		return client.Command{Path: path, Args: args, Stderr: words(t)}
	}
}

// npmScript is our server on the TypeScript SDK of the v2 line.
func npmScript(over string) func(t *testing.T) client.Target {
	return func(t *testing.T) client.Target {
		url := started(t, node(), fromRoot("test/peers/servers/typescript.mjs"), over)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		return client.HTTP{URL: url, Client: &http.Client{Transport: record.Transport(transport, log(t))}}
	}
}

// npmHTTP is server-everything on a port of its own.
func npmHTTP(over, path string) func(t *testing.T) client.Target {
	return func(t *testing.T) client.Target {
		port := freePort(t)
		background(t, []string{fmt.Sprintf("PORT=%d", port)}, node(), module("server-everything/dist/index.js"), over)
		url := fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
		reachable(t, url)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		return client.HTTP{URL: url, Client: &http.Client{Transport: record.Transport(transport, log(t))}}
	}
}

func servers(t *testing.T) map[string]foreign {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("hi from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]foreign{
		"go-sdk, HTTP with sessions":  {goHTTP("-sdk", "go-sdk", "-over", "http"), mcp.Revision20251125, mcp.Streamable, ourTools, "greet", "peer://note"},
		"go-sdk, HTTP without":        {goHTTP("-sdk", "go-sdk", "-over", "stateless"), mcp.Revision20260728, mcp.Streamable, deaf(ourTools), "greet", "peer://note"},
		"go-sdk, HTTP+SSE":            {goHTTP("-sdk", "go-sdk", "-over", "sse"), mcp.Revision20251125, mcp.HTTPSSE, ourTools, "greet", "peer://note"},
		"go-sdk, pipes":               {command(fromRoot(goServer), "-sdk", "go-sdk"), mcp.Revision20260728, mcp.Stdio, ourTools, "greet", "peer://note"},
		"mcp-go, HTTP":                {goHTTP("-sdk", "mcp-go", "-over", "http"), mcp.Revision20260728, mcp.Streamable, ourTools, "greet", "peer://note"},
		"mcp-go, HTTP+SSE":            {goHTTP("-sdk", "mcp-go", "-over", "sse"), mcp.Revision20251125, mcp.HTTPSSE, withoutReverse(ourTools), "greet", "peer://note"},
		"mcp-go, pipes":               {command(fromRoot(goServer), "-sdk", "mcp-go"), mcp.Revision20260728, mcp.Stdio, ourTools, "greet", "peer://note"},
		"server-everything, pipes":    {command(node(), module("server-everything/dist/index.js"), "stdio"), mcp.Revision20251125, mcp.Stdio, everything, "simple-prompt", "demo://resource/static/document/features.md"},
		"server-everything, HTTP":     {npmHTTP("streamableHttp", "/mcp"), mcp.Revision20251125, mcp.Streamable, everything, "simple-prompt", "demo://resource/static/document/features.md"},
		"server-everything, HTTP+SSE": {npmHTTP("sse", "/sse"), mcp.Revision20251125, mcp.HTTPSSE, everything, "simple-prompt", "demo://resource/static/document/features.md"},
		"TypeScript v2, HTTP":         {npmScript("http"), mcp.Revision20260728, mcp.Streamable, ourTools, "greet", "peer://note"},
		"TypeScript v2, pipes":        {command(node(), fromRoot("test/peers/servers/typescript.mjs"), "stdio"), mcp.Revision20260728, mcp.Stdio, ourTools, "greet", "peer://note"},
		"server-filesystem, pipes": {command(node(), module("server-filesystem/dist/index.js"), dir), mcp.Revision20251125, mcp.Stdio,
			tools{echo: call{"read_text_file", map[string]any{"path": filepath.Join(dir, "note.txt")}, "hi from a file"}}, "", ""},
		"server-memory, pipes": {command(node(), module("server-memory/dist/index.js")), mcp.Revision20251125, mcp.Stdio,
			tools{echo: call{"read_graph", nil, "entities"}}, "", ""},
		"server-sequential-thinking, pipes": {command(node(), module("server-sequential-thinking/dist/index.js")), mcp.Revision20251125, mcp.Stdio,
			tools{echo: call{"sequentialthinking", map[string]any{"thought": "hi", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}, "thoughtNumber"}}, "", ""},
	}
}

// onPipes records what our client says and hears over pipes.
func onPipes(l *record.Log) func(client.WireRecord) {
	var mu sync.Mutex
	ours, theirs := record.Writer(io.Discard, record.Ours, l), record.Writer(io.Discard, record.Theirs, l)
	return func(r client.WireRecord) {
		mu.Lock()
		defer mu.Unlock()
		to := theirs
		if r.Sent {
			to = ours
		}
		if r.Err == nil {
			_, _ = to.Write(append(bytes.Clone(r.Raw), '\n'))
		}
	}
}

// answering are handlers with fixed answers.
func answering() client.Handlers {
	return client.Handlers{
		Sample: func(context.Context, client.SampleRequest) (client.SampleResult, error) {
			return client.SampleResult{Model: "peer-model", Text: "sampled", StopReason: "endTurn"}, nil
		},
		Elicit: func(_ context.Context, r client.ElicitRequest) (client.ElicitResult, error) {
			content := map[string]any{}
			for _, f := range r.Fields() {
				if f.Name == "name" {
					content["name"] = "peer"
				}
			}
			return client.ElicitResult{Action: client.Accept, Content: content}, nil
		},
		ElicitURL: func(context.Context, client.ElicitURLRequest) (client.Action, error) { return client.Accept, nil },
		Roots: func(context.Context) ([]client.Root, error) {
			return []client.Root{{URI: "file:///peer", Name: "peer"}}, nil
		},
	}
}

// Our client finds out how each server talks and uses all that it offers.
func TestOurClientAgainstForeignServers(t *testing.T) {
	t.Parallel()
	for name, f := range servers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t)
			o := client.Options{Server: f.target(t), Name: "fairlead-peers", Version: "1", Handlers: answering(), ProbeTimeout: patience}
			if f.binding == mcp.Stdio {
				o.Wire = onPipes(log(t))
			}
			c, err := client.Connect(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Revision() != f.revision || c.Binding() != f.binding {
				t.Errorf("speaks %s over %s, want %s over %s", c.Revision(), c.Binding(), f.revision, f.binding)
			}
			if err := c.Ping(ctx); err != nil {
				t.Errorf("ping: %v", err)
			}
			list, err := c.ListTools(ctx)
			if err != nil || len(list) == 0 {
				t.Fatalf("%d tools, %v", len(list), err)
			}
			f.reads(ctx, t, c)
			for what, one := range map[string]call{"echo": f.tools.echo, "elicitation": f.tools.elicit, "sampling": f.tools.sample, "roots": f.tools.roots} {
				if one.name != "" {
					one.check(ctx, t, c, what)
				}
			}
			f.progress(ctx, t, c)
			f.cancel(ctx, t, c)
		})
	}
}

func (one call) check(ctx context.Context, t *testing.T, c *client.Client, what string) {
	t.Helper()
	r, err := c.CallTool(ctx, one.name, one.args)
	switch {
	case err != nil:
		t.Errorf("%s: %v", what, err)
	case !strings.Contains(r.Text(), one.want):
		t.Errorf("%s: %q lacks %q", what, r.Text(), one.want)
	}
}

func (f foreign) reads(ctx context.Context, t *testing.T, c *client.Client) {
	if f.prompt != "" {
		var names []string
		for p, err := range c.Prompts(ctx) {
			if err != nil {
				t.Fatalf("prompts: %v", err)
			}
			names = append(names, p.Name)
		}
		if !strings.Contains(strings.Join(names, " "), f.prompt) {
			t.Errorf("prompts %v", names)
		}
		p, err := c.GetPrompt(ctx, f.prompt, map[string]string{"who": "peer"})
		if err != nil || len(p.Messages) == 0 {
			t.Errorf("prompt: %v", err)
		}
	}
	if f.resource == "" {
		return
	}
	n := 0
	for _, err := range c.Resources(ctx) {
		if err != nil {
			t.Fatalf("resources: %v", err)
		}
		n++
	}
	r, err := c.ReadResource(ctx, f.resource)
	if err != nil || len(r.Contents) != 1 || r.Contents[0].Text == "" || n == 0 {
		t.Errorf("resource: %v, %v of %d", r, err, n)
	}
	if _, err := c.ReadResource(ctx, "nobody://knows/this"); err == nil {
		t.Error("a resource that does not exist was read")
	}
	if _, ok := client.ErrorCode(err); err != nil && !ok {
		t.Errorf("an answer of the server is no error of the way: %v", err)
	}
}

func (f foreign) progress(ctx context.Context, t *testing.T, c *client.Client) {
	if f.tools.progress.name == "" {
		return
	}
	var seen []float64
	r, err := c.CallTool(ctx, f.tools.progress.name, f.tools.progress.args, client.OnProgress(func(p client.Progress) { seen = append(seen, p.Progress) }))
	if err != nil || !strings.Contains(r.Text(), f.tools.progress.want) {
		t.Errorf("progress: %v, %v", r, err)
	}
	// SDKs that send the last one beside the result may lose it.
	if len(seen) < 3 {
		t.Errorf("progress: %v", seen)
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] <= seen[i-1] {
			t.Errorf("progress does not rise: %v", seen)
		}
	}
}

func (f foreign) cancel(ctx context.Context, t *testing.T, c *client.Client) {
	if f.tools.slow.name == "" {
		return
	}
	enough := errors.New("enough")
	gone, stop := context.WithCancelCause(ctx)
	time.AfterFunc(300*time.Millisecond, func() { stop(enough) })
	if _, err := c.CallTool(gone, f.tools.slow.name, f.tools.slow.args); !errors.Is(err, enough) {
		t.Errorf("cancel: %v", err)
	}
	// The conversation goes on, and the server has heard of it.
	f.tools.echo.check(ctx, t, c, "echo after a cancel")
	for f.tools.cancelled != "" {
		r, err := c.CallTool(ctx, f.tools.cancelled, nil)
		if err != nil {
			t.Fatalf("cancel: %v", err)
		}
		if r.Text() == "1" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the server was not told of the cancel: %s", r.Text())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Any revision that a server has can be pinned.
func TestPinnedRevisions(t *testing.T) {
	for name, tc := range map[string]struct {
		args      []string
		revisions []string
	}{
		"go-sdk, HTTP with sessions": {[]string{"-sdk", "go-sdk", "-over", "http"}, mcp.Legacy()},
		"mcp-go, HTTP":               {[]string{"-sdk", "mcp-go", "-over", "http"}, mcp.Revisions()},
	} {
		t.Run(name, func(t *testing.T) {
			target := goHTTP(tc.args...)(t)
			for _, revision := range tc.revisions {
				ctx := bounded(t)
				c, err := client.Connect(ctx, client.Options{Server: target, Revision: revision})
				if err != nil {
					t.Errorf("%s: %v", revision, err)
					continue
				}
				if c.Revision() != revision {
					t.Errorf("speaks %s, want %s", c.Revision(), revision)
				}
				ourTools.echo.check(ctx, t, c, revision)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
