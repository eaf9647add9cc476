package cel

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// kubectl runs the real one against the control plane and returns what it
// printed.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryKubectl(t, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryKubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testkit.Binary(t, "kubectl"), args...)
	cmd.Env = []string{"KUBECONFIG=" + plane.Kubeconfig(t), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// O21: the CRD fits into the annotation of a client-side apply.
func TestCRDIsAppliedWithoutFlags(t *testing.T) {
	plane.Config(t)
	kubectl(t, "apply", "-f", filepath.Join(testkit.Root(t), "config/crd/bases"))
	kubectl(t, "apply", "-f", filepath.Join(testkit.Root(t), "config/crd/bases"))
}

func TestExplainTellsFieldsAndDefaults(t *testing.T) {
	plane.Config(t)
	// The server publishes the schema of a new CRD some time after the CRD.
	var out string
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			var err error
			out, err = tryKubectl(t, "explain", "mcpservers.spec.workload.stdio")
			return err == nil, nil
		})
	if err != nil {
		t.Fatalf("kubectl explain: %v\n%s", err, out)
	}
	for _, want := range []string{"maxProcesses", "Default 16.", "startupSeconds", "idleSeconds"} {
		if !strings.Contains(out, want) {
			t.Errorf("kubectl explain lacks %q:\n%s", want, out)
		}
	}
}

// O7: READY is the condition Available, REASON that of Ready.
func TestGetShowsAvailabilityAndReason(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	server := stdioServer(ns, "shown")
	if err := c.Create(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	server.Status.ReadyReplicas = ptr.To(int32(2))
	server.Status.Address = &v1alpha1.Address{URL: "http://shown.example.svc/mcp"}
	server.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAvailable, LastTransitionTime: now},
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonRollingOut, LastTransitionTime: now},
	}
	if err := c.Status().Update(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`^NAME +READY +REASON +REPLICAS +TYPE +URL +AGE$`,
		`^shown +True +RollingOut +2 +Stdio +http://shown.example.svc/mcp +\S+$`,
	}
	for _, resource := range []string{"mcpservers", "mcpserver", "mcpsrv", "mcp"} {
		lines := strings.Split(strings.TrimSpace(kubectl(t, "get", "-n", ns, resource)), "\n")
		if len(lines) != len(want) {
			t.Errorf("kubectl get %s prints %q", resource, lines)
			continue
		}
		for i := range want {
			if !regexp.MustCompile(want[i]).MatchString(strings.TrimSpace(lines[i])) {
				t.Errorf("kubectl get %s: line %q is not %s", resource, lines[i], want[i])
			}
		}
	}
}
