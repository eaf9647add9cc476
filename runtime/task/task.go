package task

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Task is a task as its owner sees it, at one moment.
type Task struct {
	ID      string
	Method  string
	Status  Status
	Message string
	// IsError tells of a completed task that its result says isError: what the
	// extension calls completed and 2025-11-25 failed (W35.19, W36.11).
	IsError          bool
	Created, Updated time.Time
	TTL, Poll        time.Duration
	// Changes counts what changed; Engine.Wait waits for more.
	Changes uint64
	// Inputs are the questions that wait for an answer, oldest first.
	Inputs []Input
	// Outcome is what the request came to; zero while the task runs and when
	// it was cancelled. Tasks in lists have none.
	Outcome jsonrpc.Outcome
}

func taskOf(r *Record) Task {
	t := Task{
		ID: r.Token, Method: r.Method, Status: r.Status, Message: r.Message, IsError: r.IsError,
		Created: r.Created, Updated: r.Updated, TTL: r.TTL, Poll: r.Poll, Changes: r.Changes,
		Outcome: jsonrpc.Outcome{Result: r.Result, Err: r.Err},
	}
	for i := range r.Inputs {
		if !r.Inputs[i].Answered() {
			t.Inputs = append(t.Inputs, r.Inputs[i])
		}
	}
	return t
}

// Final is the outcome that tasks/result gives for a terminal task: what the
// request came to (W35.13), or an error that says it was cancelled (W40.12).
func (t *Task) Final() jsonrpc.Outcome {
	if t.Status == Cancelled || t.Outcome.IsZero() {
		return jsonrpc.Fail(cancelled())
	}
	return t.Outcome
}
