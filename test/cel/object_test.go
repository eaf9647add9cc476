package cel

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

func stdioServer(namespace, name string) *v1alpha1.McpServer {
	s := &v1alpha1.McpServer{}
	s.Namespace, s.Name = namespace, name
	s.Spec.Workload = v1alpha1.Workload{
		Type: v1alpha1.WorkloadStdio, Image: "registry.example/server:1", Command: []string{"/server"},
	}
	return s
}

// O5: the only default in the schema is replicas; everything else stays as the
// user wrote it, so that intent is visible and defaults can change.
func TestOnlyReplicasIsFilledIn(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	if err := c.Create(t.Context(), stdioServer(ns, "minimal")); err != nil {
		t.Fatal(err)
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("McpServer"))
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "minimal"}, stored); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"replicas": int64(1),
		"workload": map[string]any{
			"type": "Stdio", "image": "registry.example/server:1", "command": []any{"/server"},
		},
	}
	if diff := cmp.Diff(want, stored.Object["spec"]); diff != "" {
		t.Errorf("stored spec (-want +got):\n%s", diff)
	}
}

// O5: everything that scales writes McpServer/scale.
func TestScaleSubresourceReadsAndWritesReplicas(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	server := stdioServer(ns, "scaled")
	if err := c.Create(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	server.Status.Replicas = ptr.To(int32(1))
	server.Status.Selector = v1alpha1.LabelServer + "=scaled"
	if err := c.Status().Update(t.Context(), server); err != nil {
		t.Fatal(err)
	}

	scale := &autoscalingv1.Scale{}
	if err := c.SubResource("scale").Get(t.Context(), server, scale); err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 1 || scale.Status.Replicas != 1 || scale.Status.Selector != server.Status.Selector {
		t.Errorf("scale is %+v %+v; want 1 replica wanted and seen, and the selector", scale.Spec, scale.Status)
	}
	for replicas, wantErr := range map[int32]bool{3: false, 0: false, 1001: true} {
		scale.ResourceVersion = ""
		scale.Spec.Replicas = replicas
		err := c.SubResource("scale").Update(t.Context(), server, client.WithSubResourceBody(scale))
		if gotErr := err != nil; gotErr != wantErr {
			t.Errorf("scale to %d: error %v, want one: %t", replicas, err, wantErr)
			continue
		}
		if wantErr {
			continue
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(server), server); err != nil {
			t.Fatal(err)
		}
		if got := ptr.Deref(server.Spec.Replicas, -1); got != replicas {
			t.Errorf("spec.replicas is %d after a scale to %d", got, replicas)
		}
	}
}

// R16, O23, C39: 40 characters leave room for the names of children.
func TestNameMayHave40Characters(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	for name, accepted := range map[string]bool{
		"a":                                 true,
		"a" + strings.Repeat("-", 38) + "b": true,
		strings.Repeat("x", v1alpha1.MaxNameLength):   true,
		strings.Repeat("x", v1alpha1.MaxNameLength+1): false,
		"ends-with-": false,
		"9lives":     false,
		"dot.ted":    false,
	} {
		err := c.Create(t.Context(), stdioServer(ns, name))
		switch {
		case accepted && err != nil:
			t.Errorf("%q is refused: %v", name, err)
		case !accepted && !apierrors.IsInvalid(err):
			t.Errorf("%q (%d characters): %v; want it refused as invalid", name, len(name), err)
		}
	}
}

// The status is the operator's: a user's write of the object leaves it alone,
// and a write of the status leaves the spec alone.
func TestStatusIsASubresource(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	server := stdioServer(ns, "status")
	server.Status.Selector = "written=by-user"
	if err := c.Create(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	if server.Status.Selector != "" {
		t.Errorf("a create wrote the status: %q", server.Status.Selector)
	}
	server.Spec.Workload.Image = "registry.example/other:2"
	server.Status.Address = &v1alpha1.Address{URL: "http://status." + ns + ".svc/mcp"}
	if err := c.Status().Update(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	if got := server.Spec.Workload.Image; got != "registry.example/server:1" {
		t.Errorf("a status update changed the image to %s", got)
	}
	if server.Generation != 1 {
		t.Errorf("a status update moved the generation to %d", server.Generation)
	}
}

// O9, ImageRunsAsRoot: asking for root is answered by a condition, not by the
// schema; every other user but the sidecar's is the user's choice.
func TestRunAsUserZeroIsLeftToTheCondition(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	server := stdioServer(ns, "root")
	if err := c.Create(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"spec":{"workload":{"securityContext":{"runAsUser":0}}}}`)
	if err := c.Patch(t.Context(), server, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Errorf("runAsUser: 0 is refused by the schema: %v", err)
	}
}

// A workload's type may change; its members must change with it.
func TestTypeAndMemberChangeTogether(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	server := stdioServer(ns, "moves")
	server.Spec.Workload.Stdio = &v1alpha1.StdioWorkload{MaxProcesses: ptr.To(int32(4))}
	if err := c.Create(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	server.Spec.Workload.Type = v1alpha1.WorkloadMCP
	if err := c.Update(t.Context(), server); !apierrors.IsInvalid(err) {
		t.Errorf("type MCP with the member stdio and without mcp: %v; want it refused", err)
	}
	server.Spec.Workload.Stdio, server.Spec.Workload.MCP = nil, &v1alpha1.MCPWorkload{Port: 3000}
	if err := c.Update(t.Context(), server); err != nil {
		t.Errorf("type MCP with its member: %v", err)
	}
}
