package mcptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
)

// counted are the messages that a Recorder saw in one direction, by kind and
// method.
func counted(r *mcptest.Recorder, sent bool) map[string]int {
	out := map[string]int{}
	messages, _ := r.Messages()
	for _, m := range messages {
		if m.Sent == sent {
			out[fmt.Sprintf("%d %s", m.Kind, m.Method)]++
		}
	}
	return out
}

// What one side's stacks send the other side's receive, each message once,
// whatever transport and revision; ping, initialize, reverse calls, cancels and
// progress included. D4
func TestEveryMessagePassesTheStacksOnce(t *testing.T) {
	for _, way := range mcptest.Ways() {
		for _, revision := range mcp.Revisions() {
			if !way.Carries(revision) {
				continue
			}
			t.Run(string(way)+" "+revision, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { conversation(t, way, revision) })
			})
		}
	}
}

func conversation(t *testing.T, way mcptest.Way, revision string) {
	var theirs, ours mcptest.Recorder
	target := mcptest.Reach(t, allSorts(t), way, mcptest.Serving{Receive: theirs.Receive(), Send: theirs.Send(), Virtual: true})
	c, err := client.Connect(t.Context(), client.Options{
		Server: target, Revision: revision, Receive: ours.Receive(), Send: ours.Send(),
		Handlers: client.Handlers{Elicit: func(context.Context, client.ElicitRequest) (client.ElicitResult, error) {
			return client.ElicitResult{Action: client.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, params := range []string{`{"name":"double","arguments":{"n":1}}`, `{"name":"ask","arguments":{}}`, `{"name":"none"}`} {
		_, _ = c.Call(t.Context(), "tools/call", json.RawMessage(params))
	}
	_, _ = c.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"steps","arguments":{"n":3}}`), client.OnProgress(func(client.Progress) {}))
	_ = c.Ping(t.Context())
	_, _ = c.Call(t.Context(), "no/such", nil)
	synctest.Wait()
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	_, _ = c.Call(ctx, "tools/call", json.RawMessage(`{"name":"wait","arguments":{}}`))
	stop()
	synctest.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	synctest.Wait()
	sent := counted(&ours, true)
	if way == mcptest.WayHTTPSSE {
		sent["1 "+mcp.MethodInitialize]-- // the POST that found the older transport (W13.7)
	}
	for name, pair := range map[string][2]map[string]int{
		"client to server": {sent, counted(&theirs, false)},
		"server to client": {counted(&theirs, true), counted(&ours, false)},
	} {
		if !maps.Equal(pair[0], pair[1]) {
			t.Errorf("%s\nsent     %v\nreceived %v", name, pair[0], pair[1])
		}
		if len(pair[0]) < 3 {
			t.Errorf("%s: only %v", name, pair[0])
		}
	}
}

func TestTranscript(t *testing.T) {
	var r mcptest.Recorder
	raw := mcptest.Memory(t, &mcptest.Stub{}, memory.Options{Receive: r.Receive(), Send: r.Send()})
	raw.Say(mcptest.Initialize(1, "2025-06-18", `{}`))
	raw.Hear()
	raw.Say(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"n":9007199254740993}}`)
	raw.Hear()
	messages, lost := r.Messages()
	if len(messages) != 4 || lost != 0 || messages[2].Revision != "2025-06-18" || messages[3].Kind != jsonrpc.KindResponse || messages[3].Method != "tools/call" {
		t.Errorf("%+v", messages)
	}
	lines := strings.Split(strings.TrimSpace(r.Transcript()), "\n")
	if !slices.Equal(lines[2:], []string{
		`-> {"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"n":9007199254740993}}`,
		`<- {"jsonrpc":"2.0","id":"x","result":{"echo":"tools/call"}}`,
	}) {
		t.Errorf("%q", lines)
	}
}
