package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// TaskStatus is how a task stands.
type TaskStatus string

// The states of a task; the last three are final.
const (
	TaskWorking   TaskStatus = "working"
	TaskInput     TaskStatus = "input_required"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
)

// Final reports whether the status does not change any more.
func (s TaskStatus) Final() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// Errors of tasks.
var (
	// ErrTaskCancelled: the task was cancelled and has no result.
	ErrTaskCancelled = errors.New("client: the task was cancelled")
	// ErrNoTasks: the revision or the server has no such method.
	ErrNoTasks = errors.New("client: the server has no such thing for tasks")
)

// TaskState is what a server says about a task. Fields are read-only.
type TaskState struct {
	ID      string
	Status  TaskStatus
	Message string
	// Created and Updated are the server's ISO 8601 texts.
	Created, Updated string
	// TTL is how long the task is kept, from its creation; negative: for ever.
	TTL time.Duration
	// Poll is how often to ask; 0: the server does not say.
	Poll time.Duration
	// Raw is the whole object.
	Raw json.RawMessage
}

// readTask reads a task of either kind (W35.7, W36.6).
func readTask(raw json.RawMessage) TaskState {
	s := TaskState{
		ID: text(raw, "taskId"), Status: TaskStatus(text(raw, "status")), Message: text(raw, "statusMessage"),
		Created: text(raw, "createdAt"), Updated: text(raw, "lastUpdatedAt"), TTL: -1, Raw: raw,
	}
	for _, name := range []string{"ttl", "ttlMs"} {
		if ms, ok := number(raw, name); ok {
			s.TTL = millis(ms)
		}
	}
	for _, name := range []string{"pollInterval", "pollIntervalMs"} {
		if ms, ok := number(raw, name); ok {
			s.Poll = millis(ms)
		}
	}
	return s
}

func millis(ms float64) time.Duration {
	return time.Duration(max(0, min(ms, 1e12))) * time.Millisecond
}

// Task is a tool call that runs on its own. All methods may be called
// concurrently. A Task is a reference: another Client of the same user can
// take it up by its id (Client.Task).
type Task struct {
	client *Client
	tool   string    // empty when it was taken up by its id
	state  TaskState // as created
	done   *ToolResult
	// extension: the task was made by the extension of stateless revisions.
	extension bool

	release func() // ends progress; may be nil

	mu       sync.Mutex
	answered map[string]bool // keys of questions, unique for life (W36.12)
}

// TaskOptions say how a task is to be.
type TaskOptions struct {
	// TTL is how long the result should be kept; 0: as the server likes.
	TTL time.Duration
}

// StartTool calls a tool as a task, where server and tool know tasks; else the
// tool runs at once and the Task is finished when it is returned. In a session
// OnProgress hears of the task until Wait has its result, or Cancel was called.
func (c *Client) StartTool(ctx context.Context, name string, arguments any, t TaskOptions, opts ...CallOption) (*Task, error) {
	return c.startTool(ctx, name, arguments, t, options(opts))
}

func (c *Client) startTool(ctx context.Context, name string, arguments any, t TaskOptions, o callOptions) (*Task, error) {
	r, err := c.toolCall(name, arguments, o)
	if err != nil {
		return nil, err
	}
	legacy := c.Profile().Handshake
	if !legacy {
		r.tasks = true
	} else if may, err := c.mayAugment(ctx, name); err != nil {
		return nil, err
	} else if may {
		r.lasting = o.progress != nil // W20.6
		var task object
		if t.TTL > 0 {
			task.set("ttl", strconv.AppendInt(nil, t.TTL.Milliseconds(), 10))
		}
		if r.params, err = strictjson.Splice(r.params, strictjson.Set(task.bytes(), "task")); err != nil {
			return nil, err
		}
	}
	raw, kind, err := c.callTool(ctx, r)
	if err != nil {
		return nil, err
	}
	if task := member(raw, "task"); legacy && task != nil && text(task, "taskId") != "" {
		t := c.taskOf(name, task, false)
		t.release = r.release
		return t, nil
	}
	if r.release != nil {
		r.release()
	}
	if kind == resultTask {
		return c.taskOf(name, raw, true), nil
	}
	done, err := c.toolResult(name, raw)
	if err != nil {
		return nil, err
	}
	return &Task{client: c, state: TaskState{Status: TaskCompleted, TTL: -1}, done: done}, nil
}

// mayAugment says whether a call may be made a task (W24.15, W35.2).
func (c *Client) mayAugment(ctx context.Context, name string) (bool, error) {
	if _, ok := c.Profile().Method(mcp.MethodTasksResult); !ok || !c.Server().Has(mcp.CapTasks+".requests.tools.call") {
		return false, nil
	}
	if c.tools.get(name).task == "" {
		if _, err := c.ListTools(ctx); err != nil {
			return false, err
		}
	}
	support := c.tools.get(name).task
	return support == "optional" || support == "required", nil
}

func (c *Client) taskOf(tool string, raw json.RawMessage, extension bool) *Task {
	return &Task{client: c, tool: tool, state: readTask(raw), extension: extension}
}

// Task takes up a task by its id.
func (c *Client) Task(id string) *Task {
	return &Task{client: c, state: TaskState{ID: id, TTL: -1}, extension: !c.Profile().Handshake}
}

// TaskList yields the tasks of this user (2025-11-25 only, W35.16).
func (c *Client) TaskList(ctx context.Context) iter.Seq2[TaskState, error] {
	if _, ok := c.Profile().Method(mcp.MethodTasksList); !ok {
		return func(yield func(TaskState, error) bool) { yield(TaskState{}, ErrNoTasks) }
	}
	return all(ctx, c, list[TaskState]{mcp.MethodTasksList, "tasks", readTask}, nil)
}

// ID is empty when the tool ran at once.
func (t *Task) ID() string { return t.state.ID }

// Created is the task as it was made.
func (t *Task) Created() TaskState { return t.state }

func (t *Task) params() []byte {
	var o object
	o.set("taskId", strictjson.Quote(nil, t.state.ID))
	return o.bytes()
}

func (t *Task) request(ctx context.Context, method string, params []byte, o callOptions) (json.RawMessage, error) {
	if _, ok := t.client.Profile().Method(method); !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoTasks, method)
	}
	return t.client.converse(ctx, &request{method: method, params: params, opts: o, tasks: true})
}

// State asks how the task stands.
func (t *Task) State(ctx context.Context) (TaskState, error) {
	if t.done != nil {
		return t.state, nil
	}
	raw, err := t.request(ctx, mcp.MethodTasksGet, t.params(), callOptions{})
	if err != nil {
		return TaskState{}, err
	}
	return readTask(raw), nil
}

// Cancel asks the server to stop. In 2025-11-25 a task that is finished cannot
// be cancelled, which is an error there (W35.15).
func (t *Task) Cancel(ctx context.Context) error {
	if t.done != nil {
		return nil
	}
	_, err := t.request(ctx, mcp.MethodTasksCancel, t.params(), callOptions{})
	if err == nil {
		t.over()
	}
	return err
}

// over ends the progress of a task that is finished (W20.3).
func (t *Task) over() {
	if t.release != nil {
		t.release()
	}
}

// Update gives answers to questions of the task, raw by key, where they are
// asked through its state (W36.13). Wait does it by itself.
func (t *Task) Update(ctx context.Context, responses map[string]json.RawMessage) error {
	var o object
	for _, k := range sorted(responses) {
		raw, err := encodedObject("a response", responses[k])
		if err != nil {
			return err
		}
		o.set(k, raw)
	}
	return t.update(ctx, o.bytes())
}

func (t *Task) update(ctx context.Context, responses []byte) error {
	params, err := strictjson.Splice(t.params(), strictjson.Set(responses, "inputResponses"))
	if err != nil {
		return err
	}
	_, err = t.request(ctx, mcp.MethodTasksUpdate, params, callOptions{})
	return err
}
