package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// A tool whose work takes longer than anybody holds a request open. Clients of
// 2025-11-25 and of 2026-07-28 get it as a task, in their own words; the
// handler is the same for both, and for those who wait.
func Example_task() {
	engine, err := task.New(task.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	s := server.New(server.Info{Name: "archive", Version: "1.0"}, server.Options{Tasks: engine})
	err = s.AddTool(server.Tool{Name: "pack", TaskSupport: server.TaskOptional}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		for done := range 3 {
			if err := c.Progress(float64(done+1), 3, fmt.Sprintf("%d of 3 files", done+1)); err != nil {
				return nil, err
			}
			select {
			case <-time.After(time.Millisecond):
			case <-c.Done(): // cancelled, expired, or the server stops
				return nil, context.Cause(c)
			}
		}
		return server.TextResult("packed"), nil
	})
	fmt.Println(err)
	// Output: <nil>
}
