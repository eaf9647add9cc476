package desired_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

func template(t *testing.T, in desired.Input) desired.Template {
	t.Helper()
	tpl, err := desired.MakeTemplate(in)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func TestTemplateHash(t *testing.T) {
	base := func() *v1alpha1.McpServer {
		s := generate(7)
		s.Spec = v1alpha1.McpServerSpec{Workload: v1alpha1.Workload{
			Type: v1alpha1.WorkloadStdio, Image: "x:1", Command: []string{"/x"},
		}}
		return s
	}
	tests := map[string]struct {
		edit func(*v1alpha1.McpServer)
		want string // first differing field, "" for the same hash
	}{
		"nothing":          {edit: func(*v1alpha1.McpServer) {}},
		"replicas do not":  {edit: func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(9)) }},
		"limits do not":    {edit: func(s *v1alpha1.McpServer) { s.Spec.Limits.RequestSeconds = ptr.To(int32(9)) }},
		"network does not": {edit: func(s *v1alpha1.McpServer) { s.Spec.Network.AllowedOrigins = []v1alpha1.Origin{"https://x"} }},
		"the front's protocol does not": {edit: func(s *v1alpha1.McpServer) {
			s.Spec.Protocol = v1alpha1.Protocol{Revisions: []v1alpha1.ProtocolRevision{"2026-07-28"}, HTTPSSE: v1alpha1.Enabled}
		}},
		"roots": {edit: func(s *v1alpha1.McpServer) {
			s.Spec.Protocol.Roots = []v1alpha1.Root{{URI: "file:///x"}}
		}, want: "spec.protocol.roots"},
		"the workload's revision": {edit: func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Stdio = &v1alpha1.StdioWorkload{Revision: "2025-06-18"}
		}, want: "spec.workload.stdio"},
		"metadata does not": {edit: func(s *v1alpha1.McpServer) { s.Labels = map[string]string{"a": "b"}; s.Generation = 9 }},
		"an empty list is no list": {edit: func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Args = []string{}
			s.Spec.Pod.Labels = map[string]string{}
		}},
		"image": {edit: func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "x:2" }, want: "spec.workload.image"},
		"the first of two, in the order of the kind": {
			edit: func(s *v1alpha1.McpServer) {
				s.Spec.Pod.Annotations = map[string]string{"a": "b"}
				s.Spec.Workload.Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
			},
			want: "spec.workload.env",
		},
		"drain": {edit: func(s *v1alpha1.McpServer) { s.Spec.Rollout.DrainSeconds = ptr.To(int32(0)) }, want: "spec.rollout.drainSeconds"},
		"a field that goes": {
			edit: func(s *v1alpha1.McpServer) { s.Spec.Workload.Command = nil }, want: "spec.workload.command",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, s := template(t, input(base())), base()
			tc.edit(s)
			after := template(t, input(s))
			if got := desired.FirstDifference(before.Fields, after.Fields); got != tc.want {
				t.Errorf("first difference %q, want %q", got, tc.want)
			}
			if same := before.Hash == after.Hash; same != (tc.want == "") {
				t.Errorf("hash %s, before %s", after.Hash, before.Hash)
			}
			if errs := validation.IsValidLabelValue(after.Hash); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

// O22: what a new operator brings is not part of the hash, only of the build.
func TestOperatorUpgradeKeepsTheHash(t *testing.T) {
	for seed := range uint64(100) {
		in := input(generate(seed))
		before := template(t, in)
		in.DataPlane.Image = "registry.example/fairlead/sidecar:9.9.9"
		after := template(t, in)
		if before.Hash != after.Hash || before.Fields != after.Fields {
			t.Fatalf("seed %d: a new sidecar changes the hash", seed)
		}
		if before.Build == after.Build {
			t.Fatalf("seed %d: a new sidecar does not change the build", seed)
		}
	}
}

// Fields that a hash does not know would change without a rollout.
func TestEveryFieldOfWorkloadAndPodIsHashed(t *testing.T) {
	covered := desired.HashedFields()
	for _, want := range jsonFields(t) {
		if !covered[want] {
			t.Errorf("spec.%s is not part of the template hash; add it to templateFields", want)
		}
		delete(covered, want)
	}
	for name := range covered {
		t.Errorf("templateFields names %s, which is no field", name)
	}
}
