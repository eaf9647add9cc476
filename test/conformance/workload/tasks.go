package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

type greetArgs struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

type computeArgs struct {
	Seconds float64 `json:"seconds" jsonschema:"how long to take"`
	Label   string  `json:"label,omitempty" jsonschema:"what to call the result"`
}

type deleteArgs struct {
	Filename string `json:"filename" jsonschema:"what to delete"`
}

// brief is how long jobs take that only have to be jobs.
const brief = 300 * time.Millisecond

const askConfirm = `{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}`

// addTasks adds what may, must or must not run as a task.
func (w *Workload) addTasks() error {
	s := w.Server
	return errors.Join(
		server.AddTool(s, server.Tool{Name: "greet", Description: "Greets at once, never as a task"},
			func(_ *server.Context, in greetArgs) (string, error) { return fmt.Sprintf("Hello, %s!", in.Name), nil }),
		server.AddTool(s, server.Tool{Name: "slow_compute", Description: "Takes as long as it is told to", TaskSupport: server.TaskOptional},
			func(c *server.Context, in computeArgs) (string, error) {
				err := pause(c, time.Duration(in.Seconds*float64(time.Second)))
				return fmt.Sprintf("Computed %q in %g s.", in.Label, in.Seconds), err
			}),
		s.AddTool(server.Tool{Name: "failing_job", Description: "Fails after a moment", TaskSupport: server.TaskRequired, Meta: json.RawMessage(`{"` + mcp.MetaNeeds + `":["tasks"]}`)},
			func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
				return nil, errors.Join(pause(c, brief), errors.New("the job failed, as it always does"))
			}),
		s.AddTool(server.Tool{Name: "protocol_error_job", Description: "Ends with an error of the protocol", TaskSupport: server.TaskRequired},
			func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
				if err := pause(c, brief/10); err != nil {
					return nil, err
				}
				return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "the job broke, as it always does")
			}),
		server.AddTool(s, server.Tool{Name: "confirm_delete", Description: "Asks before it would delete", TaskSupport: server.TaskRequired}, confirmDelete),
		s.AddTool(server.Tool{Name: "multi_input", Description: "Asks two things at once", TaskSupport: server.TaskRequired},
			func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
				return answered(c, []server.Input{c.Form("first", form("First of two", askConfirm)), c.Form("second", form("Second of two", askConfirm))})
			}),
		s.AddTool(server.Tool{
			Name: "test_tool_with_task", Description: "Asks first, then goes on as a task",
			TaskSupport: server.TaskRequired, TaskLater: true, Meta: json.RawMessage(`{"` + mcp.MetaAsksFirst + `":true}`),
		}, greetLater),
	)
}

func confirmDelete(c *server.Context, in deleteArgs) (string, error) {
	r, err := c.Elicit("confirm", form(fmt.Sprintf("Really delete %s?", in.Filename), askConfirm))
	if err != nil {
		return "", err
	}
	var answer struct {
		Confirm bool `json:"confirm"`
	}
	if r.Accepted() {
		if err := r.Into(&answer); err != nil {
			return "", err
		}
	}
	if !answer.Confirm {
		return fmt.Sprintf("Kept %s.", in.Filename), nil
	}
	return fmt.Sprintf("Deleted %s (not really).", in.Filename), nil
}

// greetLater asks in rounds and then lets go of the request.
func greetLater(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	r, err := c.Elicit("user_name", form("What is your name?", askName))
	if err != nil {
		return nil, err
	}
	var who name
	if r.Accepted() {
		if err := r.Into(&who); err != nil {
			return nil, err
		}
	}
	if _, err := c.BecomeTask(); err != nil {
		return nil, err
	}
	if err := pause(c, step); err != nil {
		return nil, err
	}
	return text("Hello, %s! This took its time.", who.Name)
}
