//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/node"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/wire"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
	"github.com/fairlead-dev/fairlead/test/load"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// hostname finds the pod in what get-env of server-everything prints.
var hostname = regexp.MustCompile(`"HOSTNAME":\s*"([^"]+)"`)

// background runs a load until the returned function is called, which lets the
// calls in flight finish and returns the report.
func background(t *testing.T, cfg load.Config) func() *load.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	type result struct {
		report *load.Report
		err    error
	}
	done := make(chan result, 1)
	go func() {
		r, err := load.Run(ctx, cfg)
		done <- result{r, err}
	}()
	return func() *load.Report {
		t.Helper()
		cancel()
		r := <-done
		if r.err != nil {
			t.Fatal(r.err)
		}
		t.Log(r.report)
		for _, f := range r.report.Slowest {
			t.Logf("  slow: %s issued at %.2f s took %.2f s %s", f.Client, f.At.Seconds(), f.Took.Seconds(), f.Pod)
		}
		return r.report
	}
}

func failures(r *load.Report) string {
	var b strings.Builder
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\n  %6.2f s  %s %s: %s", f.At.Seconds(), f.Client, f.Call, f.Error)
	}
	return b.String()
}

// The promise of design 1.3, as far as it holds before sessions are routed
// (O6c): a rolling update loses no call, and costs each legacy session exactly
// one refused POST.
func TestRollingUpdateUnderLoadLosesNoCall(t *testing.T) {
	w, ns := alone(t)
	const replicas = 3
	s := ready(t, w, ns, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To[int32](replicas) })
	url := w.Endpoint(t, s)
	old := w.Pods(t, s)
	stop := background(t, load.Config{
		URL: url, Duration: 10 * time.Minute, Modern: 10, Rate: 58, Legacy: 10,
		Fast: load.Tool{Name: "get-env", Args: "{}"},
		Slow: load.Tool{Name: "trigger-long-running-operation", Args: `{"duration":{s},"steps":1}`},
		// Half of the calls last 2 to 8 s.
		SlowMin: 2 * time.Second, SlowMax: 8 * time.Second, Pod: hostname, Seed: 1,
	})
	time.Sleep(10 * time.Second) // the load is at its level, every session is in use
	lowest := w.WatchEndpoints(t, s)
	w.Edit(t, s, func(s *v1alpha1.McpServer) {
		s.Spec.Workload.Image = strings.Replace(s.Spec.Workload.Image, ":dev", ":next", 1)
	})
	w.AwaitReady(t, s)
	world.AwaitFor(t, 5*time.Minute, "all old pods gone", func(ctx context.Context) (bool, string) {
		var left []string
		for _, p := range old {
			var now corev1.Pod
			if err := w.Get(ctx, keyOf(&p), &now); err == nil && now.UID == p.UID {
				left = append(left, p.Name)
			}
		}
		return len(left) == 0, strings.Join(left, " ")
	})
	time.Sleep(15 * time.Second) // the sessions that were opened anew are used
	report := stop()

	if n := lowest(); n < replicas {
		t.Errorf("ready endpoints fell to %d", n)
	}
	if report.Rate < 50 || report.SlowCalls*5 < report.Calls*2 {
		t.Errorf("%.1f calls/s, %d of %d slow: this load proves less than it should", report.Rate, report.SlowCalls, report.Calls)
	}
	if m := report.Sum(wire.Modern); m.Failed != 0 {
		t.Errorf("%d of %d calls of 2026-07-28 failed", m.Failed, m.Calls)
	}
	for _, c := range report.Clients {
		if c.Revision != wire.Legacy {
			continue
		}
		if c.Failed != 0 || c.Stillborn != 0 || c.PostsGone < 1 || c.Sessions != c.PostsGone+1 {
			t.Errorf("%s: %d accepted calls failed; %d sessions, %d ended by a 404 to a POST, %d refused at their first call",
				c.Name, c.Failed, c.Sessions, c.PostsGone, c.Stillborn)
		}
	}
	if text := failures(report); text != "" {
		t.Error("failures:", text)
	}
}

// O1: boot config belongs to the template. An edit of the port must not reach
// the old pods, whose workload listens on the old one.
func TestEditOfPortAndImageKeepsEveryEndpoint(t *testing.T) {
	w, ns := begin(t)
	const replicas = 2
	s := w.Sample(t, ns, "gosdk.yaml", func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To[int32](replicas) })
	w.AwaitReady(t, s)
	url := w.Endpoint(t, s)
	lowest := w.WatchEndpoints(t, s)
	stop := background(t, load.Config{
		URL: url, Duration: 5 * time.Minute, Modern: 4, Rate: 20,
		Fast: load.Tool{Name: "whoami", Args: "{}"}, Pod: regexp.MustCompile("(.+)"), Seed: 1,
	})
	w.Edit(t, s, func(s *v1alpha1.McpServer) {
		s.Spec.Workload.Image = strings.Replace(s.Spec.Workload.Image, ":dev", ":next", 1)
		s.Spec.Workload.MCP.Port = 4000
		s.Spec.Workload.Args = []string{"-addr", "127.0.0.1:4000", "-start-delay", "10s"}
	})
	w.AwaitReady(t, s)
	report := stop()
	if n := lowest(); n < replicas {
		t.Errorf("ready endpoints fell to %d", n)
	}
	if report.Failed != 0 {
		t.Errorf("%d of %d calls failed: %s", report.Failed, report.Calls, failures(report))
	}
}

// The data plane needs neither API server nor operator.
func TestAPIServerStoppedForAMinute(t *testing.T) {
	w, ns := alone(t)
	n := node.Local(t, testkit.Root(t))
	s := ready(t, w, ns)
	stop := background(t, load.Config{
		URL: w.Endpoint(t, s), Duration: 5 * time.Minute, Modern: 4, Rate: 20, Legacy: 4,
		Fast:    load.Tool{Name: "echo", Args: `{"message":"x"}`},
		Slow:    load.Tool{Name: "trigger-long-running-operation", Args: `{"duration":{s},"steps":1}`},
		SlowMin: 200 * time.Millisecond, SlowMax: 400 * time.Millisecond, Seed: 1,
	})
	if err := n.Hold(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	if err := n.Release(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	w.AwaitReady(t, s)
	w.Edit(t, s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To[int32](2) })
	w.AwaitReady(t, s)
	report := stop()
	if l := report.Sum(wire.Legacy); report.Failed != 0 || l.PostsGone != 0 {
		t.Errorf("%d of %d calls failed, %d sessions lost: %s", report.Failed, report.Calls, l.PostsGone, failures(report))
	}
}

// kubectl scale reaches three pods, and a stateless client all of them (O5).
func TestScaleSpreadsStatelessCallsOverAllPods(t *testing.T) {
	w, ns := begin(t)
	s := ready(t, w, ns)
	w.Kubectl(t, "scale", "mcpserver/"+s.Name, "-n", ns, "--replicas=3")
	w.AwaitReady(t, s)
	// Each round's clients open connections of their own: the first may be
	// there before the node's proxy has heard of the third endpoint.
	var pods map[string]int
	for began := time.Now(); len(pods) != 3 && time.Since(began) < time.Minute; {
		stop := background(t, load.Config{
			URL: w.Endpoint(t, s), Duration: time.Minute, Modern: 30, Rate: 60,
			Fast: load.Tool{Name: "get-env", Args: "{}"}, Pod: hostname, Seed: 1,
		})
		time.Sleep(5 * time.Second)
		r := stop()
		if pods = r.Pods; r.Failed != 0 {
			t.Fatalf("%d of %d calls failed: %s", r.Failed, r.Calls, failures(r))
		}
	}
	if len(pods) != 3 {
		t.Errorf("answered by %v", pods)
	}
	w.Kubectl(t, "scale", "mcpserver/"+s.Name, "-n", ns, "--replicas=0")
	w.AwaitCondition(t, s, v1alpha1.ConditionReady, "False", v1alpha1.ReasonScaledToZero)
	w.AwaitCondition(t, s, v1alpha1.ConditionAvailable, "False", v1alpha1.ReasonScaledToZero)
}
