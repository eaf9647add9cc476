package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// tasked is a server whose tools run as tasks where that can be.
func tasked(t *testing.T) *server.Server {
	t.Helper()
	engine, err := task.New(task.Options{Poll: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close(context.WithoutCancel(t.Context())) })
	s := server.New(server.Info{Name: "tasked"}, server.Options{Tasks: engine})
	add := func(tool server.Tool, h func(c *server.Context) (string, error)) {
		err := s.AddTool(tool, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
			text, err := h(c)
			return server.TextResult(text), err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	confirm := func(c *server.Context) (string, error) {
		r, err := c.Elicit("sure", server.ElicitParams{Message: "sure?", Schema: json.RawMessage(`{"type":"object","properties":{"sure":{"type":"boolean"}}}`)})
		return string(r.Action), err
	}
	add(server.Tool{Name: "optional", TaskSupport: server.TaskOptional}, confirm)
	add(server.Tool{Name: "required", TaskSupport: server.TaskRequired}, confirm)
	add(server.Tool{Name: "later", TaskSupport: server.TaskOptional, TaskLater: true}, func(c *server.Context) (string, error) {
		said, err := confirm(c)
		if err != nil {
			return "", err
		}
		if _, err := c.BecomeTask(); err != nil {
			return "", err
		}
		again, err := c.Roots("roots")
		if err != nil {
			return "", err
		}
		return said + " " + again[0].URI, nil
	})
	add(server.Tool{Name: "sleeps", TaskSupport: server.TaskOptional}, func(c *server.Context) (string, error) {
		<-c.Done()
		return "", context.Cause(c)
	})
	return s
}

// One handler, one client, every revision over every transport: as a task
// where both know them, as an ordinary call elsewhere. W35.10, W36.10, P17
func TestTasksEverywhere(t *testing.T) {
	o := client.Options{Handlers: client.Handlers{
		Elicit: func(context.Context, client.ElicitRequest) (client.ElicitResult, error) {
			return client.ElicitResult{Action: client.Accept, Content: json.RawMessage(`{"sure":true}`)}, nil
		},
		Roots: func(context.Context) ([]client.Root, error) { return []client.Root{{URI: "file:///work"}}, nil },
	}}
	want := map[string]string{"optional": "accept", "required": "accept", "later": "accept file:///work"}
	for _, way := range mcptest.Ways() {
		for _, revision := range mcp.Revisions() {
			p, _ := mcp.Lookup(revision)
			if _, asks := p.Reverse(mcp.MethodElicit); !way.Carries(revision) || p.Handshake && !asks {
				continue
			}
			t.Run(string(way)+" "+revision, func(t *testing.T) {
				o.Revision = revision
				target := mcptest.Reach(t, tasked(t), way, mcptest.Serving{})
				c := dialed(t, target, o)
				_, knows := p.Method(mcp.MethodTasksGet)
				for tool, said := range want {
					made, err := c.StartTool(t.Context(), tool, nil, client.TaskOptions{})
					if err != nil {
						t.Fatalf("%s: %v", tool, err)
					}
					got, err := made.Wait(t.Context())
					if err != nil || got.Text() != said || (made.ID() != "") != knows {
						t.Errorf("%s: %v, %v, id %q", tool, got, err, made.ID())
					}
				}
				if !knows {
					return
				}
				made, err := c.StartTool(t.Context(), "sleeps", nil, client.TaskOptions{TTL: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				_ = c.Close() // the task does not mind
				again := dialed(t, target, o).Task(made.ID())
				if state, err := again.State(t.Context()); err != nil || state.Status != client.TaskWorking {
					t.Errorf("got %+v, %v", state, err)
				}
				if err := again.Cancel(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := again.Wait(t.Context()); !errors.Is(err, client.ErrTaskCancelled) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func dialed(t *testing.T, target client.Target, o client.Options) *client.Client {
	t.Helper()
	o.Server = target
	c, err := client.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
