package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// onlyTasks has a tool that runs as a task of the workload's own, which asks.
func onlyTasks() script {
	return plain(script{
		"initialize":        {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"child","version":"1"}}}`},
		"tools/call:long":   {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"only as a task"}}`},
		"tools/call:long#2": {`{"jsonrpc":"2.0","id":$ID,"result":{"task":{"taskId":"their own","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}}`},
		"tasks/result": {
			`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"their own"}}}}`,
			"!await response",
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"their own"}}}}`,
		},
		"tools/call:gone": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no such tool"}}`},
	})
}

func TestAToolThatOnlyRunsAsATask(t *testing.T) { // B12.7, B12.8, B12.10, B12.12
	t.Run("for a legacy client", func(t *testing.T) {
		r := serve(t, onlyTasks())
		c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
		s := c.request("7", "tools/call", `{"name":"long"}`)
		defer s.close()
		if got := c.answered(s, `"result":{"action":"cancel"}`); strings.Contains(got, "their own") {
			t.Error(got)
		}
		got, _ := s.next()
		if member(got, "result", "saw", "params") != `{"taskId":"their own"}` || strings.Contains(member(got, "result", "_meta"), "their own") {
			t.Error(got)
		}
	})
	t.Run("for a legacy client that asks for a task", func(t *testing.T) {
		r := withTasks(t, onlyTasks(), upstream.EraLegacy)
		c, _ := r.opened("ann", `{"elicitation":{}}`)
		id := c.started(c.call("tools/call", `{"name":"long","task":{}}`), "task")
		c.until(id, "input_required")
		s := c.request("7", "tasks/result", `{"taskId":`+id+`}`)
		defer s.close()
		if got := c.answered(s, `"result":{"action":"cancel"}`); !strings.Contains(got, id) || strings.Contains(got, "their own") {
			t.Error(got)
		}
		got, _ := s.next()
		if !strings.Contains(member(got, "result", "_meta"), id) {
			t.Error(got)
		}
	})
	t.Run("for a modern client", func(t *testing.T) {
		r := serve(t, onlyTasks())
		c := r.declaring(`{"elicitation":{}}`)
		first := c.call("tools/call", `{"name":"long"}`)
		if member(first, "resultType") != `"input_required"` || strings.Contains(first, "their own") {
			t.Fatal(first)
		}
		got := c.call("tools/call", `{"name":"long","inputResponses":{"elicitation-1":{"action":"cancel"}},"requestState":`+member(first, "requestState")+`}`)
		if member(got, "resultType") != `"complete"` || strings.Contains(member(got, "_meta"), "their own") {
			t.Error(got)
		}
	})
	t.Run("and one that there is not", func(t *testing.T) {
		r := serve(t, onlyTasks())
		r.legacy().want("tools/call", `{"name":"gone"}`, `{"code":-32601,"message":"no such tool"}`)
	})
}
