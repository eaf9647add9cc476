package task

import (
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Legacy is the task as 2025-11-25 shows it: the answer to tasks/get and
// tasks/cancel, an element of tasks/list, the params of
// notifications/tasks/status (W35.11). A tool that failed has failed (W35.19).
func (t *Task) Legacy() []byte {
	status := t.Status
	if t.IsError {
		status = Failed
	}
	return append(t.fields([]byte{'{'}, status, "ttl", "pollInterval"), '}')
}

// LegacyCreate is the CreateTaskResult of 2025-11-25 (W35.7).
func (t *Task) LegacyCreate() []byte {
	return append(append([]byte(`{"task":`), t.Legacy()...), '}')
}

// ModernCreate is the CreateTaskResult of the extension: flat, without anything that
// only tasks/get shows (W36.6).
func (t *Task) ModernCreate() []byte {
	return append(t.fields([]byte(`{"resultType":"task",`), t.Status, "ttlMs", "pollIntervalMs"), '}')
}

// ModernGet is the answer to tasks/get of the extension (W36.10).
func (t *Task) ModernGet() []byte { return t.detailed([]byte(`{"resultType":"complete",`)) }

// ModernNotice is the params of notifications/tasks (W36.16).
func (t *Task) ModernNotice() []byte { return t.detailed([]byte{'{'}) }

// detailed is the task with what its status brings, and never the related-task
// key in its result (W36.18).
func (t *Task) detailed(b []byte) []byte {
	b = t.fields(b, t.Status, "ttlMs", "pollIntervalMs")
	switch {
	case t.Status == InputRequired:
		b = append(b, `,"inputRequests":`...)
		b = appendInputs(b, t.Inputs)
	case t.Status == Completed && t.Outcome.Result != nil:
		b = append(b, `,"result":`...)
		b = append(b, unrelated(t.Outcome.Result)...)
	case t.Status == Failed && t.Outcome.Err != nil:
		b = append(b, `,"error":`...)
		b = jsonrpc.AppendError(b, t.Outcome.Err)
	}
	return append(b, '}')
}

func (t *Task) fields(b []byte, status Status, ttl, poll string) []byte {
	b = append(b, `"taskId":`...)
	b = strictjson.Quote(b, t.ID)
	b = append(b, `,"status":"`...)
	b = append(append(b, status...), '"')
	if t.Message != "" {
		b = append(b, `,"statusMessage":`...)
		b = strictjson.Quote(b, t.Message)
	}
	b = append(b, `,"createdAt":"`...)
	b = appendTime(b, t.Created)
	b = append(b, `","lastUpdatedAt":"`...)
	b = appendTime(b, t.Updated)
	b = append(b, `","`...)
	b = append(b, ttl...)
	b = append(b, `":`...)
	b = strconv.AppendInt(b, t.TTL.Milliseconds(), 10)
	if t.Poll > 0 {
		b = append(b, `,"`...)
		b = append(b, poll...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, max(t.Poll.Milliseconds(), 1), 10)
	}
	return b
}

// appendTime writes ISO 8601 in UTC with milliseconds (W35.11).
func appendTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}

func appendInputs(b []byte, inputs []Input) []byte {
	b = append(b, '{')
	for i := range inputs {
		in := &inputs[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.Quote(b, in.Key)
		b = append(b, `:{"method":`...)
		b = strictjson.Quote(b, in.Method)
		if in.Params != nil {
			b = append(b, `,"params":`...)
			b = append(b, in.Params...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func unrelated(result []byte) []byte {
	if _, has := strictjson.GetPath(result, "_meta", mcp.MetaRelatedTask); !has || broken.Rule("W36.18") {
		return result
	}
	out, err := strictjson.Splice(result, strictjson.Delete("_meta", mcp.MetaRelatedTask))
	if err != nil {
		return result
	}
	return out
}

// Relate adds the related-task key to the _meta of an object, as every message
// of a task of 2025-11-25 but those about the task itself carries it (W6.11,
// W35.13). nil makes an object that holds only that.
func Relate(object []byte, id string) []byte {
	value := append(strictjson.Quote([]byte(`{"taskId":`), id), '}')
	if object == nil {
		object = []byte(`{}`)
	}
	out, err := strictjson.Splice(object, strictjson.Set(value, "_meta", mcp.MetaRelatedTask))
	if err != nil {
		return object // it is no object: nothing can be added
	}
	return out
}
