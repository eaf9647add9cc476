package observe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func families(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	list, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*dto.MetricFamily)
	for _, f := range list {
		all[f.GetName()] = f
	}
	return all
}

func series(t *testing.T, m *Metrics) (n int) {
	t.Helper()
	for _, f := range families(t, m) {
		n += len(f.GetMetric())
	}
	return n
}

// F2: no client and no workload can make series.
func TestStrangersCannotMakeSeries(t *testing.T) {
	m := New("test", Sources{})
	front := m.Front(nil)
	op := hook.Operation{Method: mcp.MethodToolsCall, Revision: "2025-06-18", Binding: mcp.Streamable.String()}
	one := func(method, tool, revision, failure string) {
		op.Method, op.Tool, op.Revision = method, tool, revision
		front.Start(op)
		front.Finish(op, hook.End{ErrorType: failure, Duration: time.Millisecond})
		m.ClientOperation(op, hook.End{ErrorType: failure})
	}
	for i := range maxTools {
		m.Tools.Learn(fmt.Sprint("tool-", i))
	}
	// Everything that random requests may map to is there once.
	one("no/such", "no such tool", "1999-01-01", "")
	one("no/such", "no such tool", "1999-01-01", "-32999")
	before := series(t, m)
	for range 100_000 {
		junk := fmt.Sprintf("%x", rand.Uint64())
		failure := ""
		if rand.IntN(2) == 0 {
			failure = fmt.Sprint(-33000 - rand.IntN(1e6))
		}
		one(junk, junk, junk, failure)
	}
	if after := series(t, m); after > before+5 {
		t.Errorf("%d series became %d", before, after)
	}
}

func TestToolsAreLearntUpToABound(t *testing.T) {
	var tools Tools
	tools.Learn("", strings.Repeat("x", maxToolName+1))
	for i := range 2 * maxTools {
		tools.Learn(fmt.Sprint(i))
	}
	known := 0
	for i := range 2 * maxTools {
		if tools.label(fmt.Sprint(i)) != other {
			known++
		}
	}
	if known != maxTools {
		t.Errorf("%d tools are known, want %d", known, maxTools)
	}
	if tools.label("") != "" || tools.label(strings.Repeat("x", maxToolName+1)) != other {
		t.Error("odd names are not bounded")
	}
}

func TestAToolThatAnsweredIsKnown(t *testing.T) {
	m := New("test", Sources{})
	front := m.Front(nil)
	op := hook.Operation{Method: mcp.MethodToolsCall, Revision: "2025-06-18", Binding: "streamable", Tool: "echo"}
	for _, failure := range []string{"-32602", ""} {
		front.Start(op)
		front.Finish(op, hook.End{ErrorType: failure})
	}
	got := map[string]string{}
	for _, s := range families(t, m)["mcp_server_operation_duration_seconds"].GetMetric() {
		labels := map[string]string{}
		for _, l := range s.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		got[labels["error_type"]] = labels["gen_ai_tool_name"]
	}
	if got["-32602"] != other || got[""] != "echo" {
		t.Errorf("labels %v", got)
	}
}

func TestSmallSetsArePrimed(t *testing.T) {
	all := families(t, New("test", Sources{}))
	for name, want := range map[string]int{
		"fairlead_rejected_total":             len(hook.Reasons()),
		"fairlead_active_streams":             len(hook.StreamKinds()),
		"fairlead_stream_ends_total":          len(hook.StreamKinds()) * len(hook.StreamEnds()),
		"fairlead_handshake_failures_total":   len(config.Reasons()),
		"fairlead_replays_total":              len(hook.Replays()),
		"fairlead_tasks":                      5,
		"fairlead_tasks_refused_total":        len(hook.TaskRefusals()),
		"fairlead_messages_dropped_total":     len(hook.Drops()),
		"fairlead_draining":                   1,
		"fairlead_upstream_up":                1,
		"fairlead_active_requests":            1,
		"fairlead_active_sessions":            1,
		"fairlead_processes":                  1,
		"fairlead_live_contract_errors_total": 1,
		"fairlead_build_info":                 1,
		"fairlead_buffered_bytes":             1,
		"fairlead_panics_total":               1,
		busyName:                              1,
	} {
		if n := len(all[name].GetMetric()); n != want {
			t.Errorf("%s has %d series before anything happened, want %d", name, n, want)
		}
	}
}

func TestEveryMetricIsDescribedAndWellNamed(t *testing.T) {
	m := New("test", Sources{Remembered: func() map[string]int { return map[string]int{"ids": 1} }})
	op := hook.Operation{Method: mcp.MethodToolsList, Revision: "2025-06-18", Binding: "stdio"}
	m.Front(nil).Finish(op, hook.End{})
	m.ClientOperation(op, hook.End{})
	m.Front(nil).CloseSession(hook.Session{Revision: "2025-06-18"}, hook.SessionEnd{Reason: hook.EndIdle})
	m.Hook("sidecar", "drained")
	m.WorkloadDropped("noise")
	m.Attributed("sole")
	m.ParkedEnded("done")
	m.ProcessStarted(time.Second, "")
	m.ProcessStreams(true)
	m.ProcessEnded("idle")
	m.SessionRenewed(true)
	m.ProcessRecreated(true)
	m.Repaired("null_dropped")
	all := families(t, m)
	for _, d := range m.Docs() {
		f := all[d.Name]
		if f == nil {
			t.Errorf("%s is described but not there", d.Name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != d.Type || f.GetHelp() != d.Help {
			t.Errorf("%s is a %s (%s), described as %s (%s)", d.Name, got, f.GetHelp(), d.Type, d.Help)
		}
		delete(all, d.Name)
	}
	for name := range all {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is there but not described", name)
		}
	}
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "fairlead_") || strings.HasPrefix(p.Metric, "mcp_") {
			t.Errorf("lint: %v", p)
		}
	}
}

func TestBusySecondsIntegrate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New("test", Sources{})
		front := m.Front(nil)
		op := hook.Operation{Method: mcp.MethodPing}
		front.Start(op)
		time.Sleep(2 * time.Second)
		front.Start(op)
		time.Sleep(3 * time.Second)
		if got := testutil.ToFloat64(m.busy); got != 2+2*3 {
			t.Errorf("%v busy seconds while requests run, want 8", got)
		}
		front.Finish(op, hook.End{})
		front.Finish(op, hook.End{})
		time.Sleep(time.Hour)
		if got := testutil.ToFloat64(m.busy); got != 8 {
			t.Errorf("%v busy seconds after they ended, want 8", got)
		}
	})
}

func TestGaugesFollowTheirSources(t *testing.T) {
	n := 7
	m := New("test", Sources{Sessions: func() int { return n }})
	value := func() float64 { return families(t, m)["fairlead_active_sessions"].GetMetric()[0].GetGauge().GetValue() }
	if value() != 7 {
		t.Errorf("%v", value())
	}
	n = 8
	if value() != 8 {
		t.Errorf("%v", value())
	}
}

// F1: whatever a stranger writes, a line stays one line, and short.
func TestLogsCannotBeForged(t *testing.T) {
	var b bytes.Buffer
	log := NewLogger(&b, slog.LevelDebug)
	access := NewAccessLog(log)
	nasty := "\n{\"level\":\"ERROR\"}\x1b]0;x\x07\u202e" + strings.Repeat("A", 10_000)
	access.operation(hook.Operation{Method: mcp.MethodToolsCall, Tool: nasty}, hook.End{ErrorType: "-32602"})
	log.Warn("x", "name", Untrusted(nasty))
	access.panicked(nasty, bytes.Repeat([]byte("s"), 1<<20))
	lines := 0
	for s := bufio.NewScanner(bytes.NewReader(b.Bytes())); s.Scan(); lines++ {
		var line map[string]any
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Errorf("line %d: %v", lines, err)
		}
		if strings.ContainsAny(s.Text(), "\x1b\u202e") || len(s.Text()) > 16<<10 {
			t.Errorf("line %d is %d bytes: %.300q", lines, len(s.Text()), s.Text())
		}
	}
	if lines != 3 {
		t.Errorf("%d lines, want 3", lines)
	}
}

// W18.11: calls are logged.
func TestAccessLogLevelsAndBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		access := NewAccessLog(NewLogger(&b, slog.LevelInfo))
		op := hook.Operation{Method: mcp.MethodToolsCall, Revision: "2025-06-18"}
		for _, quiet := range []string{"", "tool_error", "-32602", "cancelled", "disconnected"} {
			access.operation(op, hook.End{ErrorType: quiet})
		}
		if b.Len() > 0 {
			t.Errorf("written at INFO: %s", b.String())
		}
		for range 10 * maxPerSecond {
			access.operation(op, hook.End{ErrorType: "timeout"})
		}
		if n := strings.Count(b.String(), "\n"); n != maxPerSecond {
			t.Errorf("%d lines in one second, want %d", n, maxPerSecond)
		}
		b.Reset()
		time.Sleep(time.Second)
		access.operation(op, hook.End{ErrorType: "-32603"})
		if want := fmt.Sprintf(`"skipped":%d`, 9*maxPerSecond); !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %s", b.String(), want)
		}
	})
}

// What was collected last tells a leak from garbage.
func TestLiveHeapIsTold(t *testing.T) {
	f := families(t, New("test", Sources{}))["go_gc_heap_live_bytes"]
	if f == nil || len(f.GetMetric()) != 1 {
		t.Fatalf("go_gc_heap_live_bytes: %v", f)
	}
}
