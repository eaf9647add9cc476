package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Wait returns the result when the task is finished, answering its questions
// with the Handlers meanwhile. It may be called again, also after an error of
// the way. Errors: the task's own *jsonrpc.Error, ErrTaskCancelled, those of
// Call. ctx ends the wait and not the task.
func (t *Task) Wait(ctx context.Context) (*ToolResult, error) {
	if t.done != nil {
		return t.done, nil
	}
	if !t.extension {
		return t.result(ctx)
	}
	wake, forget := t.client.tasks.watch(t.state.ID)
	defer forget()
	for polled := 0; ; polled++ {
		raw, err := t.request(ctx, mcp.MethodTasksGet, t.params(), callOptions{})
		if err != nil {
			return nil, err
		}
		state := readTask(raw)
		switch state.Status {
		case TaskCompleted:
			return t.client.toolResult(t.tool, member(raw, "result"))
		case TaskFailed:
			return nil, taskError(raw)
		case TaskCancelled:
			return nil, ErrTaskCancelled
		case TaskInput:
			if err := t.reply(ctx, raw); err != nil {
				return nil, err
			}
		}
		if err := pollPause(ctx, state.Poll, polled, wake); err != nil {
			return nil, err
		}
	}
}

// result waits for a task of 2025-11-25; its questions come as requests of the
// server on the same stream (W35.10, W35.13).
func (t *Task) result(ctx context.Context) (*ToolResult, error) {
	raw, err := t.request(ctx, mcp.MethodTasksResult, t.params(), callOptions{timeout: -1})
	if err == nil {
		t.over()
		return t.client.toolResult(t.tool, raw)
	}
	if verdict(err) != nil {
		t.over()
		if state, getErr := t.State(ctx); getErr == nil && state.Status == TaskCancelled {
			return nil, errors.Join(ErrTaskCancelled, err)
		}
	}
	return nil, err
}

func taskError(raw []byte) error {
	e := member(raw, "error")
	code, ok := number(e, "code")
	if !ok {
		return fmt.Errorf("client: the task failed: %s", text(raw, "statusMessage"))
	}
	return &jsonrpc.Error{Code: int64(code), Message: text(e, "message"), Data: member(e, "data"), Raw: e}
}

// reply answers the questions that were not answered yet.
func (t *Task) reply(ctx context.Context, raw []byte) error {
	v, err := t.client.conversation(ctx)
	if err != nil {
		return err
	}
	questions := member(raw, "inputRequests")
	answers, n, err := t.client.answers(ctx, v, questions, t.wasAnswered)
	if err != nil || n == 0 {
		return err
	}
	if err := t.update(ctx, answers); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answered == nil || len(t.answered) > 16*maxQuestions {
		t.answered = map[string]bool{}
	}
	strictjson.Each(answers, func(name, _ []byte) bool { t.answered[string(name)] = true; return true })
	return nil
}

func (t *Task) wasAnswered(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answered[key]
}

// Bounds of polling.
const (
	minPoll = 20 * time.Millisecond
	maxPoll = time.Minute
)

// pollPause waits before a task is asked again: as long as the server says,
// else longer each time; a notification about it ends the wait.
func pollPause(ctx context.Context, wish time.Duration, polled int, wake <-chan struct{}) error {
	d := backoff(100*time.Millisecond, 5*time.Second, polled+1)
	if wish > 0 {
		d = min(max(wish, minPoll), maxPoll)
		d += rand.N(d/10 + 1) // W34.5
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
