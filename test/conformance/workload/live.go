package workload

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

// step is the pause between two signs of life; the suite names it.
const step = 50 * time.Millisecond

// pause waits, unless the request ends first.
func pause(c *server.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.Done():
		return c.Err()
	}
}

// liveTools say something before they answer.
func (w *Workload) liveTools() []tool {
	return []tool{
		{server.Tool{Name: "test_tool_with_logging", Description: "Logs three times while it works"}, logThrice},
		{server.Tool{Name: "test_logging_tool", Description: "Logs once"}, logOnce},
		{server.Tool{Name: "test_tool_with_progress", Description: "Reports its progress"}, report},
		{server.Tool{Name: "test_reconnection", Description: "Lets go of its connection before it answers"}, letGo},
		{server.Tool{Name: "test_trigger_tool_change", Description: "Changes the list of tools"}, w.changeTools},
		{server.Tool{Name: "test_trigger_prompt_change", Description: "Changes the list of prompts"}, w.changePrompts},
		{server.Tool{Name: "test_trigger_resource_update", Description: "Changes the watched resource"}, w.updateResource},
	}
}

func logThrice(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(c, step); err != nil {
				return nil, err
			}
		}
		if err := c.Log(server.LevelInfo, "", text); err != nil {
			return nil, err
		}
	}
	return server.TextResult("Logged three times."), nil
}

func logOnce(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	if err := c.Log(server.LevelInfo, "", "The logging tool was called"); err != nil {
		return nil, err
	}
	return server.TextResult("Logged, if that was asked for."), nil
}

func report(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	const total = 100
	for _, done := range []float64{0, total / 2, total} {
		if done > 0 {
			if err := pause(c, step); err != nil {
				return nil, err
			}
		}
		if err := c.Progress(done, total, fmt.Sprintf("Completed step %g of %d", done, total)); err != nil {
			return nil, err
		}
	}
	return server.TextResult("Done."), nil
}

// letGo ends the connection that the answer would come on, where a client can
// come back for it (SEP-1699).
func letGo(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	if err := pause(c, step); err != nil {
		return nil, err
	}
	// Where there is nothing to let go of, the answer just comes.
	_ = c.Exchange().ClosePolling()
	if err := pause(c, 2*step); err != nil {
		return nil, err
	}
	return server.TextResult("Answered after the connection was let go."), nil
}

// changeTools adds a tool, or takes it away again.
func (w *Workload) changeTools(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
	const name = "test_dynamic_tool"
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dynamicTool = !w.dynamicTool; !w.dynamicTool {
		w.Server.RemoveTools(name)
		return server.TextResult("Took a tool away."), nil
	}
	return server.TextResult("Added a tool."), w.Server.AddTool(server.Tool{Name: name, Description: "Comes and goes"}, say("Still here."))
}

// updateResource says that what can be subscribed to has changed.
func (w *Workload) updateResource(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
	w.Server.ResourceUpdated(watched)
	return server.TextResult("Changed the resource."), nil
}

// changePrompts adds a prompt, or takes it away again.
func (w *Workload) changePrompts(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
	const name = "test_dynamic_prompt"
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dynamicPrompt = !w.dynamicPrompt; !w.dynamicPrompt {
		w.Server.RemovePrompts(name)
		return server.TextResult("Took a prompt away."), nil
	}
	p := prompt{server.Prompt{Name: name, Description: "Comes and goes"}, messages(server.Text("Still here."))}
	return server.TextResult("Added a prompt."), w.Server.AddPrompt(p.Prompt, p.run)
}
