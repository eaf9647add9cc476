package events_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairlead-dev/fairlead/controllers/internal/events"
)

type recorder struct{ lines []string }

func (r *recorder) Eventf(_, _ runtime.Object, typ, reason, action, note string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf("%s %s %s "+note, append([]any{typ, reason, action}, args...)...))
}

func TestSend(t *testing.T) {
	r := &recorder{}
	for _, e := range []events.Event{
		events.Created(2, "http://demo.team.svc/mcp"),
		events.RollingOut("spec.workload.image"),
		events.RollingOut(""),
		events.Scaled(1, 3),
		events.Corrected("Service", "demo"),
		events.KeysLost(),
		events.RecreateStrategy("data"),
		events.Restored("Service", "demo"),
		events.Removed("NetworkPolicy", "demo-0-network"),
		events.Transition("Ready", false, "ImagePullFailed", "100% of it %s is text."),
		events.Transition("Ready", true, "Ready", strings.Repeat("x", 2000)),
	} {
		events.Send(r, &corev1.Pod{}, e)
	}
	for _, line := range r.lines {
		if strings.Contains(line, "%!") || len(line) > 1200 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
	if got := r.lines[9]; got != "Warning ImagePullFailed Observe:Ready 100% of it %s is text." {
		t.Error(got)
	}
	// The recorder counts events of one reason and action as one.
	if events.RollingOut("spec.workload.image").Action == events.RollingOut("spec.workload.env").Action {
		t.Error("two rollouts for different causes are told as one")
	}
}
