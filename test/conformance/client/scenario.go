package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/client"
)

// useEverything lists, calls, reads and gets all that there is.
func useEverything(ctx context.Context, t *Task) error {
	return t.with(ctx, client.Handlers{}, func(c *client.Client) error {
		if err := callAll(ctx, c); err != nil {
			return err
		}
		for r, err := range c.Resources(ctx) {
			if err != nil {
				return fmt.Errorf("resources/list: %w", err)
			}
			if _, err := c.ReadResource(ctx, r.URI); err != nil {
				return fmt.Errorf("resource %s: %w", r.URI, err)
			}
		}
		for p, err := range c.Prompts(ctx) {
			if err != nil {
				return fmt.Errorf("prompts/list: %w", err)
			}
			if _, err := c.GetPrompt(ctx, p.Name, nil); err != nil {
				return fmt.Errorf("prompt %s: %w", p.Name, err)
			}
		}
		return nil
	})
}

// callAsTold makes the calls that the suite wants, with its arguments.
func callAsTold(ctx context.Context, t *Task) error {
	var told struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(t.Context, &told); err != nil {
		return fmt.Errorf("what the suite asks for: %w", err)
	}
	if len(told.ToolCalls) == 0 {
		return errors.New("the suite asks for no call")
	}
	return t.with(ctx, client.Handlers{}, func(c *client.Client) error {
		if _, err := c.ListTools(ctx); err != nil {
			return err
		}
		for _, call := range told.ToolCalls {
			if _, err := c.CallTool(ctx, call.Name, call.Arguments); err != nil {
				return fmt.Errorf("tool %s: %w", call.Name, err)
			}
		}
		return nil
	})
}

// acceptDefaults is a user who accepts a form as it is.
func acceptDefaults(ctx context.Context, t *Task) error {
	accept := func(context.Context, client.ElicitRequest) (client.ElicitResult, error) {
		return client.ElicitResult{Action: client.Accept}, nil
	}
	return t.with(ctx, client.Handlers{Elicit: accept}, func(c *client.Client) error { return callAll(ctx, c) })
}

// confirm is a user who says yes to every question, and has another tool called
// while one is open.
func confirm(ctx context.Context, t *Task) error {
	const unrelated = "test_mrtr_unrelated"
	var c *client.Client
	yes := func(ctx context.Context, r client.ElicitRequest) (client.ElicitResult, error) {
		if _, err := c.CallTool(ctx, unrelated, nil); err != nil {
			return client.ElicitResult{}, err
		}
		content := map[string]any{}
		for _, f := range r.Fields() {
			content[f.Name] = true
		}
		return client.ElicitResult{Action: client.Accept, Content: content}, nil
	}
	return t.with(ctx, client.Handlers{Elicit: yes}, func(connected *client.Client) error {
		c = connected
		return callAll(ctx, c)
	})
}

// echoSchema sends a schema back as it was received.
func echoSchema(ctx context.Context, t *Task) error {
	const shown, echo = "json_schema_2020_12_tool", "json_schema_echo"
	return t.with(ctx, client.Handlers{}, func(c *client.Client) error {
		tools, err := c.ListTools(ctx)
		if err != nil {
			return err
		}
		for _, tool := range tools {
			if tool.Name == shown {
				_, err := c.CallTool(ctx, echo, map[string]any{"schema": tool.InputSchema})
				return err
			}
		}
		return fmt.Errorf("the server shows no tool %s", shown)
	})
}
