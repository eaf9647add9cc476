package cli

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// C42
func TestAFailedCallPrintsNothingOnStandardOutput(t *testing.T) {
	cases := map[string]struct {
		line []string
		code int
		says string
	}{
		"unknown tool":               {[]string{"call", "demo", "no_such_tool", "{}"}, exitFailed, "unknown tool"},
		"unknown tool, json":         {[]string{"call", "demo", "no_such_tool", "{}", "-o", "json"}, exitFailed, "unknown tool"},
		"the tool fails":             {[]string{"call", "demo", "broken"}, exitFailed, "disk full"},
		"the tool fails, json":       {[]string{"call", "demo", "broken", "-o", "json"}, exitFailed, "disk full"},
		"unknown server":             {[]string{"call", "other", "echo"}, exitFailed, "not found"},
		"arguments are no JSON":      {[]string{"call", "demo", "echo", "{"}, exitUsage, "not a JSON object"},
		"arguments are no object":    {[]string{"call", "demo", "echo", "[1]"}, exitUsage, "not a JSON object"},
		"arguments are empty":        {[]string{"call", "demo", "echo", ""}, exitUsage, "not a JSON object"},
		"no tool named":              {[]string{"call", "demo"}, exitUsage, "Usage: kubectl mcp call"},
		"unknown verb":               {[]string{"cal", "demo"}, exitUsage, "unknown command"},
		"unknown flag":               {[]string{"call", "--retry", "demo", "echo"}, exitUsage, "unknown flag"},
		"unknown output":             {[]string{"call", "demo", "echo", "-o", "yaml"}, exitUsage, "text or json"},
		"a timeout that is no limit": {[]string{"call", "demo", "echo", "--timeout", "0s"}, exitUsage, "must be positive"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := try(newFake(t), "", c.line...)
			if got.code != c.code || got.out != "" || !strings.Contains(got.err, c.says) {
				t.Errorf("code %d, stdout %q, stderr %q", got.code, got.out, got.err)
			}
		})
	}
}

func TestCallPrintsTextAsItIsAndTheRestAsJSON(t *testing.T) {
	f := newFake(t)
	got := try(f, "", "call", "demo", "echo", `{"message": "hi"}`)
	want := "{\"message\": \"hi\"}\n{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":\"image/png\"}\n"
	if got.code != exitOK || got.out != want || got.err != "" {
		t.Errorf("code %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	if !got.session.closed {
		t.Error("the session was left open")
	}
	if len(f.forwards) != 1 || f.forwards[0] != "demo-b:17080" {
		t.Errorf("forwards %v: only to the ready pod's public port", f.forwards)
	}
}

func TestCallReadsArgumentsFromStandardInput(t *testing.T) {
	if got := try(newFake(t), "  {\"a\":1}\n", "call", "demo", "echo", "-"); !strings.HasPrefix(got.out, `{"a":1}`) {
		t.Errorf("%+v", got)
	}
	if got := try(newFake(t), strings.Repeat(" ", maxArguments+1), "call", "demo", "echo", "-"); got.code != exitUsage {
		t.Errorf("%+v", got)
	}
}

func TestCallWithoutArgumentsSendsAnEmptyObject(t *testing.T) {
	if got := try(newFake(t), "", "call", "demo", "echo"); !strings.HasPrefix(got.out, "{}\n") {
		t.Errorf("%+v", got)
	}
}

func TestCallPrintsStructuredContentWhenThereIsNothingElse(t *testing.T) {
	if got := try(newFake(t), "", "call", "demo", "structured"); got.out != "{\"sum\":5}\n" {
		t.Errorf("%+v", got)
	}
}

func TestCallAsJSONPrintsTheWholeResult(t *testing.T) {
	got := try(newFake(t), "", "call", "demo", "echo", "-o", "json")
	var r result
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || len(r.Content) != 2 {
		t.Errorf("%v: %q", err, got.out)
	}
}

func TestCallNeedsAReadyPodAndSaysWhereToLook(t *testing.T) {
	f := newFake(t)
	f.podList = f.podList[:1]
	got := try(f, "", "call", "demo", "echo")
	if got.code != exitFailed || !strings.Contains(got.err, "kubectl mcp check demo -n ns") {
		t.Errorf("%+v", got)
	}
}

func TestToolsPrintsWhatAStrangerWroteOnOneSafeLine(t *testing.T) {
	for _, verb := range []string{"tools", "list"} {
		got := try(newFake(t), "", verb, "demo")
		if want := "NAME   DESCRIPTION\necho   Says it ·[31mback\n"; got.out != want {
			t.Errorf("%q", got.out)
		}
	}
	got := try(newFake(t), "", "tools", "demo", "-o", "json")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || len(list.Tools) != 1 {
		t.Errorf("%v: %q", err, got.out)
	}
}

func TestGetShowsWhatClientsFeel(t *testing.T) {
	f := newFake(t)
	f.s.Status.Conditions[1].Status, f.s.Status.Conditions[1].Reason = "Unknown", "RollingOut"
	got := try(f, "", "get")
	for _, want := range []string{"demo", "True", "Unknown (RollingOut)", "1/1", "http://demo.ns.svc/mcp"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q lacks %q", got.out, want)
		}
	}
}

func TestContractIsReadable(t *testing.T) {
	f := newFake(t)
	gz, digest, err := config.EncodeLive(config.DefaultLive())
	if err != nil {
		t.Fatal(err)
	}
	f.gz = gz
	got := try(f, "", "contract", "demo")
	if !strings.Contains(got.out, digest) || !strings.Contains(got.out, `"requestSeconds"`) {
		t.Errorf("%q", got.out)
	}
	var live config.Live
	if err := json.Unmarshal([]byte(try(f, "", "contract", "demo", "-o", "json").out), &live); err != nil || live.Version != config.LiveVersion {
		t.Errorf("%v %+v", err, live)
	}
	f.gz = gz[:8]
	if got := try(f, "", "contract", "demo"); got.code != exitFailed || got.out != "" {
		t.Errorf("a damaged contract: %+v", got)
	}
}

// O18: stderr is shown here and nowhere else.
func TestCheckTellsWhyAndWhatToDo(t *testing.T) {
	f := newFake(t)
	code := 3
	f.s.Status.Conditions[0].Status, f.s.Status.Conditions[0].Reason = "False", "WorkloadExited"
	f.s.Status.Conditions[1].Status, f.s.Status.Conditions[1].Reason = "False", "WorkloadExited"
	f.podList[1].Status.Conditions[0].Status = corev1.ConditionFalse
	f.podList[1].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", RestartCount: 2,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}}}}
	f.statuses["demo-b"] = config.Status{Workload: config.WorkloadStatus{
		State: config.WorkloadFailed, Reason: config.ReasonExited, ExitCode: &code, StderrTail: []string{"cannot open \x1b[2J/data"}, Relayed: true}}
	got := try(f, "", "check", "demo")
	if got.code != exitFailed || !strings.Contains(got.err, "ns/demo is not Ready") {
		t.Errorf("code %d, stderr %q", got.code, got.err)
	}
	for _, want := range []string{
		"WorkloadExited", "demo-a", "connection refused", "CrashLoopBackOff", "exit code 3", "demo-b: the pipes of the workload's processes cannot be passed",
		"    | cannot open ·[2J/data", "What to do:\n  WorkloadExited: read the lines",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("lacks %q:\n%s", want, got.out)
		}
	}
	if n := strings.Count(got.out, "  WorkloadExited: "); n != 1 {
		t.Errorf("advice given %d times", n)
	}
	var found finding
	if err := json.Unmarshal([]byte(try(f, "", "check", "demo", "-o", "json").out), &found); err != nil || len(found.Pods) != 2 || found.Ready {
		t.Errorf("%v %+v", err, found)
	}
}

func TestCheckOfAHealthyServerEndsWithZero(t *testing.T) {
	got := try(newFake(t), "", "check", "demo")
	if got.code != exitOK || strings.Contains(got.out, "What to do") || !strings.Contains(got.out, "2025-11-25") {
		t.Errorf("%+v", got)
	}
}

func TestCheckOfAnUnseenServerSaysSo(t *testing.T) {
	f := newFake(t)
	f.s.Status.Conditions, f.podList = nil, nil
	if got := try(f, "", "check", "demo"); got.code != exitFailed || !strings.Contains(got.out, "the operator has not looked at it") {
		t.Errorf("%+v", got)
	}
}
