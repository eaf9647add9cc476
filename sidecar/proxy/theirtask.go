package proxy

import (
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// theirs is a task of a workload of 2025-11-25, as one of its answers showed
// it.
type theirs struct {
	id      string
	status  task.Status
	message string
	// ttl and poll are 0 where the workload does not say.
	ttl, poll time.Duration
}

// maxTheirID bounds the id of a workload's task, in bytes.
const maxTheirID = 4 << 10

// readTheirs reads one.
func readTheirs(raw []byte) (t theirs, ok bool) {
	id, _ := strictjson.Get(raw, "taskId")
	if t.id, _ = strictjson.String(id); t.id == "" || len(t.id) > maxTheirID {
		return t, false
	}
	status, _ := strictjson.Get(raw, "status")
	text, _ := strictjson.String(status)
	t.status = task.Status(text)
	message, _ := strictjson.Get(raw, "statusMessage")
	t.message, _ = strictjson.String(message)
	t.ttl = milliseconds(raw, "ttl", task.DefaultTTL)
	if t.poll = milliseconds(raw, "pollInterval", pollMost); t.poll > 0 {
		t.poll = max(t.poll, pollLeast)
	}
	return t, slices.Contains(task.Statuses(), t.status)
}

// about are the params of a request about the task.
func (t *theirs) about() []byte { return append(strictjson.Quote([]byte(`{"taskId":`), t.id), '}') }

// every is how often to look at the task.
func (t *theirs) every() time.Duration {
	if t.poll <= 0 {
		return pollFirst
	}
	return t.poll
}

// milliseconds reads a member that says so many, at most most; 0 without one,
// and for null.
func milliseconds(raw []byte, member string, most time.Duration) time.Duration {
	value, _ := strictjson.Get(raw, member)
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, float64(most/time.Millisecond)) * float64(time.Millisecond))
}
