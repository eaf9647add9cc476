package task_test

import (
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// A task asks its owner something while it runs, and is waited for.
func Example() {
	engine, err := task.New(task.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer engine.Close(ctx)
	ann := task.Owner{Principal: "ann"}

	made, err := engine.Start(ctx, ann, task.Spec{Method: "tools/call"}, func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
		answers, err := h.Ask(ctx, task.Question{Name: "confirm", Method: "elicitation/create", Params: []byte(`{"message":"Sure?"}`)})
		if err != nil {
			return jsonrpc.Fail(task.RPC(err))
		}
		return jsonrpc.Result(answers[0].Result)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	asked, _ := engine.Wait(ctx, ann, made.ID, made.Changes)
	fmt.Println(asked.Status, asked.Inputs[0].Key)

	_, _ = engine.Answer(ctx, ann, made.ID, map[string]jsonrpc.Outcome{"confirm-1": jsonrpc.Result([]byte(`{"action":"accept"}`))})
	done, _ := engine.Result(ctx, ann, made.ID, nil)
	fmt.Println(done.Status, string(done.Outcome.Result))
	// Output:
	// input_required confirm-1
	// completed {"action":"accept"}
}
