package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// unseen are the rights that no request shows, each with its reason.
var unseen = map[string]string{
	"update mcp.fairlead.dev/mcpservers/finalizers": "asked for by the admission plugin OwnerReferencesPermissionEnforcement, where it is on",
	"get mcp.fairlead.dev/mcpservers":               "only when the cache lags behind our own status write",
}

// sometimes are rights for what happens by chance in a short run: reads of
// children whose cache lags, and counts of repeated events.
var sometimes = []string{
	"patch events.k8s.io/events",
}

// O15, O16: the manager uses exactly what config/rbac grants it. That it needs
// nothing more is sure because it runs with these rights only.
func TestGrantedRightsAreUsed(t *testing.T) {
	c := admin(t)
	install(t, c)
	ns := testkit.Namespace(t, c)
	k := playKubelet(t, c, ns)
	op := start(t, operatorOptions{statuses: k}) // all namespaces, as installed

	create(t, c, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	})
	s := server(ns, "rights")
	s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "data", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}
	create(t, c, s)
	shows(t, c, s, "Ready", "True/Ready")
	eventually(t, func() string { // until the pod has reported, it is not touched
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			return err.Error()
		}
		if s.Status.Server == nil {
			return "the pod's status was not read"
		}
		return ""
	})
	// A touch, the removal of the policy, and a pod whose events are read.
	edit(t, c, s, func(s *v1alpha1.McpServer) {
		s.Spec.Limits.RequestSeconds = ptr.To(int32(9))
		s.Spec.Network.Policy = v1alpha1.NetworkPolicyUnmanaged
	})
	shows(t, c, s, "Programmed", "True/Programmed")
	stuckPod(t, c, s)

	granted := grantedTo(t, c)
	eventually(t, func() string {
		op.used.mu.Lock()
		defer op.used.mu.Unlock()
		var missing []string
		for _, right := range granted {
			if !op.used.shows(right) && unseen[right] == "" && !slices.Contains(sometimes, right) {
				missing = append(missing, right)
			}
		}
		if len(missing) > 0 {
			return "granted and not used: " + strings.Join(missing, ", ")
		}
		return ""
	})
	op.used.mu.Lock()
	defer op.used.mu.Unlock()
	for _, verb := range []string{"list", "watch"} {
		if op.used.all[verb+" /secrets"] > 0 {
			t.Errorf("Secrets were asked for by %s", verb)
		}
	}
	for right := range unseen {
		if !slices.Contains(granted, right) {
			t.Errorf("%q is excused but not granted", right)
		}
	}
}

// stuckPod is a pod of the server that got no further than its volumes.
func stuckPod(t testing.TB, c client.Client, s *v1alpha1.McpServer) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(s.Namespace)); err != nil || len(pods.Items) == 0 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	p := pods.Items[0].DeepCopy()
	p.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: stuckName, Labels: p.Labels, OwnerReferences: p.OwnerReferences}
	create(t, c, p)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.3.0.1", PodIPs: []corev1.PodIP{{IP: "10.3.0.1"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}
	if err := c.Status().Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// shows reports whether the right was used. A watch that begins with the list
// of what there is stands for list too: against an API server without such
// watches the same informer lists first.
func (q *requests) shows(right string) bool {
	if q.all[right] > 0 {
		return true
	}
	resource, isList := strings.CutPrefix(right, "list ")
	return isList && q.all["watch "+resource] > 0
}

// grantedTo lists what the manager's ClusterRole grants, as "verb
// group/resource".
func grantedTo(t testing.TB, c client.Client) []string {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "fairlead-manager"}, role); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, rule := range role.Rules {
		if len(rule.ResourceNames) > 0 || len(rule.NonResourceURLs) > 0 {
			t.Errorf("a rule this test does not read: %v", rule)
		}
		for _, g := range rule.APIGroups {
			for _, r := range rule.Resources {
				for _, v := range rule.Verbs {
					if v == "*" || r == "*" || g == "*" || slices.Contains([]string{"escalate", "bind", "impersonate"}, v) {
						t.Errorf("granted: %s %s/%s", v, g, r)
					}
					out = append(out, fmt.Sprintf("%s %s/%s", v, g, r))
				}
			}
		}
	}
	return out
}
