package cel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	ac "github.com/fairlead-dev/fairlead/controllers/applyconfiguration/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// Two owners may apply parts of one McpServer: entries of env are merged by
// name, a field that nobody applied stays absent, and what an owner leaves out
// of its next apply goes away without touching the other's.
func TestOwnersApplyPartsOfOneServer(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	base := func() *ac.McpServerApplyConfiguration {
		return ac.McpServer("shared", ns).WithSpec(ac.McpServerSpec().WithWorkload(ac.Workload().
			WithType(v1alpha1.WorkloadStdio).WithImage("registry.example/server:1").WithCommand("/server")))
	}
	withEnv := func(s *ac.McpServerApplyConfiguration, name string) *ac.McpServerApplyConfiguration {
		s.Spec.Workload.WithEnv(corev1.EnvVar{Name: name, Value: "x"})
		return s
	}
	apply := func(owner string, s *ac.McpServerApplyConfiguration) {
		t.Helper()
		if err := c.Apply(t.Context(), s, client.FieldOwner(owner)); err != nil {
			t.Fatalf("%s: %v", owner, err)
		}
	}
	names := func() []string {
		t.Helper()
		var s v1alpha1.McpServer
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "shared"}, &s); err != nil {
			t.Fatal(err)
		}
		if s.Spec.Workload.ImagePullPolicy != "" || s.Spec.Workload.Stdio != nil || s.Spec.Rollout.DrainSeconds != nil {
			t.Errorf("fields that nobody applied are set: %+v", s.Spec)
		}
		var out []string
		for _, e := range s.Spec.Workload.Env {
			out = append(out, e.Name)
		}
		return out
	}

	apply("owner", withEnv(base(), "A"))
	apply("other", withEnv(base(), "B"))
	if diff := cmp.Diff([]string{"A", "B"}, names()); diff != "" {
		t.Errorf("after both applied (-want +got):\n%s", diff)
	}
	apply("owner", base())
	if diff := cmp.Diff([]string{"B"}, names()); diff != "" {
		t.Errorf("after one left its own out (-want +got):\n%s", diff)
	}
}
