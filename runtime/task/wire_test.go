package task_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// W35.7, W35.11, W35.19 and W36.6, W36.7, W36.10, W36.11, W36.18: how a task
// looks in each era and status, byte by byte.
func TestWire(t *testing.T) {
	base := task.Task{
		ID: `t"1`, Status: task.Working, Created: time.Date(2026, 7, 28, 14, 0, 0, 5e6, time.FixedZone("x", 7200)),
		Updated: time.Date(2026, 7, 28, 12, 0, 1, 0, time.UTC), TTL: time.Hour, Poll: 1500 * time.Millisecond,
	}
	with := func(change func(*task.Task)) task.Task { out := base; change(&out); return out }
	fields := func(status, message, ttl, poll string) string {
		return `"taskId":"t\"1","status":"` + status + `",` + message + `"createdAt":"2026-07-28T12:00:00.005Z","lastUpdatedAt":"2026-07-28T12:00:01.000Z","` +
			ttl + `":3600000,"` + poll + `":1500`
	}
	legacy := func(status, message string) string {
		return "{" + fields(status, message, "ttl", "pollInterval") + "}"
	}
	modern := func(status, message, more string) string {
		return "{" + fields(status, message, "ttlMs", "pollIntervalMs") + more + "}"
	}
	tests := map[string]struct {
		task           task.Task
		legacy, modern string
	}{
		"working": {base, legacy("working", ""), modern("working", "", "")},
		"with a message": {
			with(func(t *task.Task) { t.Message = "50 %\n" }),
			legacy("working", `"statusMessage":"50 %\n",`), modern("working", `"statusMessage":"50 %\n",`, ""),
		},
		"input required": {
			with(func(t *task.Task) {
				t.Status = task.InputRequired
				t.Inputs = []task.Input{{Key: "a-1", Method: "elicitation/create", Params: []byte(`{"message":"?"}`)}, {Key: `"`, Method: "roots/list"}}
			}),
			legacy("input_required", ""),
			modern("input_required", "", `,"inputRequests":{"a-1":{"method":"elicitation/create","params":{"message":"?"}},"\"":{"method":"roots/list"}}`),
		},
		"completed": {
			with(func(t *task.Task) {
				t.Status, t.Outcome = task.Completed, jsonrpc.Result([]byte(`{"content":[], "n":1e2}`))
			}),
			legacy("completed", ""), modern("completed", "", `,"result":{"content":[], "n":1e2}`),
		},
		"completed, with a key of the other era": {
			with(func(t *task.Task) {
				t.Status, t.Outcome = task.Completed, jsonrpc.Result([]byte(`{"_meta":{"a":1,"io.modelcontextprotocol/related-task":{"taskId":"x"}}}`))
			}),
			legacy("completed", ""), modern("completed", "", `,"result":{"_meta":{"a":1}}`),
		},
		"a tool that failed": {
			with(func(t *task.Task) {
				t.Status, t.IsError, t.Outcome = task.Completed, true, jsonrpc.Result([]byte(`{"isError":true}`))
			}),
			legacy("failed", ""), modern("completed", "", `,"result":{"isError":true}`),
		},
		"failed": {
			with(func(t *task.Task) {
				t.Status, t.Outcome = task.Failed, jsonrpc.Fail(jsonrpc.Errorf(-32603, "no").WithReason("r"))
			}),
			legacy("failed", ""), modern("failed", "", `,"error":{"code":-32603,"message":"no","data":{"reason":"r"}}`),
		},
		"cancelled": {
			with(func(t *task.Task) { t.Status, t.Message = task.Cancelled, "enough" }),
			legacy("cancelled", `"statusMessage":"enough",`), modern("cancelled", `"statusMessage":"enough",`, ""),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			create := strings.Replace(modern(string(tt.task.Status), messageOf(tt.task), ""), "{", `{"resultType":"task",`, 1)
			for what, pair := range map[string][2]string{
				"tasks/get, 2025":        {string(tt.task.Legacy()), tt.legacy},
				"CreateTaskResult, 2025": {string(tt.task.LegacyCreate()), `{"task":` + tt.legacy + `}`},
				"notifications/tasks":    {string(tt.task.ModernNotice()), tt.modern},
				"tasks/get, extension":   {string(tt.task.ModernGet()), strings.Replace(tt.modern, "{", `{"resultType":"complete",`, 1)},
				"CreateTaskResult, flat": {string(tt.task.ModernCreate()), create},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s:\n got %s\nwant %s", what, pair[0], pair[1])
				}
				if !json.Valid([]byte(pair[0])) {
					t.Errorf("%s is no JSON", what)
				}
			}
		})
	}
}

func messageOf(t task.Task) string {
	if t.Message == "" {
		return ""
	}
	text, _ := json.Marshal(t.Message)
	return `"statusMessage":` + string(text) + `,`
}

// W6.11: the key is added, and nothing else of the object changes.
func TestRelate(t *testing.T) {
	const key = `"io.modelcontextprotocol/related-task":{"taskId":"i\"d"}`
	for in, want := range map[string]string{
		``:                              `{"_meta":{` + key + `}}`,
		`{}`:                            `{"_meta":{` + key + `}}`,
		`{"a" : 1e2}`:                   `{"a" : 1e2,"_meta":{` + key + `}}`,
		`{"_meta":null}`:                `{"_meta":{` + key + `}}`,
		`{"_meta":{"progressToken":0}}`: `{"_meta":{"progressToken":0,` + key + `}}`,
		`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"forged"}}}`: `{"_meta":{` + key + `}}`,
		`[1]`: `[1]`,
	} {
		var object []byte
		if in != "" {
			object = []byte(in)
		}
		if got := string(task.Relate(object, `i"d`)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}
