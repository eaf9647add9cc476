package ownership_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
)

// O4.
func TestStateOf(t *testing.T) {
	owner := ownership.Owner{
		GVK:       schema.GroupVersionKind{Group: "mcp.fairlead.dev", Version: "v1alpha1", Kind: "McpServer"},
		Namespace: "team", Name: "demo", UID: "now",
	}
	ref := func(group, kind, name, uid string, controller bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{
			APIVersion: group + "/v1alpha1", Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(controller),
		}}
	}
	tests := map[string]struct {
		refs     []metav1.OwnerReference
		deleting bool
		want     ownership.State
	}{
		"nobody's": {want: ownership.Foreign},
		"ours":     {refs: ref("mcp.fairlead.dev", "McpServer", "demo", "now", true), want: ownership.Ours},
		"ours, being deleted": {
			refs: ref("mcp.fairlead.dev", "McpServer", "demo", "now", true), deleting: true, want: ownership.Deleting,
		},
		"owned by us but not controlled": {
			refs: ref("mcp.fairlead.dev", "McpServer", "demo", "now", false), want: ownership.Foreign,
		},
		"the previous server of the same name": {
			refs: ref("mcp.fairlead.dev", "McpServer", "demo", "before", true), want: ownership.Previous,
		},
		"another server's": {
			refs: ref("mcp.fairlead.dev", "McpServer", "other", "x", true), want: ownership.Foreign,
		},
		"the same name in another group": {
			refs: ref("example.com", "McpServer", "demo", "x", true), want: ownership.Foreign,
		},
		"another kind of the same name": {
			refs: ref("mcp.fairlead.dev", "McpToolBinding", "demo", "x", true), want: ownership.Foreign,
		},
		"an owner that cannot be read": {
			refs: []metav1.OwnerReference{{APIVersion: "a/b/c", Kind: "McpServer", Name: "demo", UID: "x", Controller: ptr.To(true)}},
			want: ownership.Foreign,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", OwnerReferences: tc.refs}}
			if tc.deleting {
				obj.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			if got := owner.StateOf(obj); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestReferenceMakesTheObjectOurs(t *testing.T) {
	owner := ownership.Owner{
		GVK:  schema.GroupVersionKind{Group: "mcp.fairlead.dev", Version: "v1alpha1", Kind: "McpServer"},
		Name: "demo", UID: "now",
	}
	r := owner.Reference()
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{
		APIVersion: *r.APIVersion, Kind: *r.Kind, Name: *r.Name, UID: *r.UID, Controller: r.Controller, BlockOwnerDeletion: r.BlockOwnerDeletion,
	}}}}
	if got := owner.StateOf(obj); got != ownership.Ours {
		t.Errorf("got %s, want Ours", got)
	}
	if !*r.BlockOwnerDeletion {
		t.Error("a foreground deletion would not wait for the child")
	}
}
