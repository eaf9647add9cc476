package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// foreignChildren are objects as somebody's hand makes them, under the names
// that the children of s have.
func foreignChildren(s *v1alpha1.McpServer) map[string]client.Object {
	n := desired.NamesOf(s)
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Labels: map[string]string{"made-by": "hand"}}
	}
	app := map[string]string{"app": "hand"}
	return map[string]client.Object{
		"Deployment": &appsv1.Deployment{ObjectMeta: meta(n.Deployment), Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "x"}}},
			},
		}},
		"Service":        &corev1.Service{ObjectMeta: meta(n.Service), Spec: corev1.ServiceSpec{Selector: app, Ports: []corev1.ServicePort{{Port: 80}}}},
		"Secret":         &corev1.Secret{ObjectMeta: meta(n.Secret), Data: map[string][]byte{"mine": []byte("x")}},
		"ConfigMap":      &corev1.ConfigMap{ObjectMeta: meta(n.ConfigMap), Data: map[string]string{"mine": "x"}},
		"ServiceAccount": &corev1.ServiceAccount{ObjectMeta: meta(n.ServiceAccount)},
		"PodDisruptionBudget": &policyv1.PodDisruptionBudget{ObjectMeta: meta(n.PDB), Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptrTo(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: app},
		}},
		"NetworkPolicy": &networkingv1.NetworkPolicy{ObjectMeta: meta(n.NetworkPolicy), Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: app},
		}},
	}
}

func ptrTo[T any](v T) *T { return &v }

// bytesOf is an object as the API server has it, every byte.
func (w *world) bytesOf(obj client.Object) string {
	w.t.Helper()
	now, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		w.t.Fatalf("%T", obj)
	}
	w.must(w.c.Get(w.t.Context(), client.ObjectKeyFromObject(obj), now))
	data, err := json.Marshal(now)
	w.must(err)
	return string(data)
}

// O4: each child kind, made by hand before: refused, said so, nothing at all
// is written, and the object is unchanged byte for byte, also after the server
// is deleted.
func TestForeignChildrenAreLeftAlone(t *testing.T) {
	for _, kind := range []string{"Deployment", "Service", "Secret", "ConfigMap", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			s := w.server(nil)
			hand := foreignChildren(s)[kind]
			w.must(w.c.Create(t.Context(), hand))
			before := w.bytesOf(hand)
			for range 2 {
				if res := w.reconcile(s); res.RequeueAfter == 0 || res.RequeueAfter > conflictRetry {
					t.Errorf("looks again in %v", res.RequeueAfter)
				}
			}
			for _, typ := range []string{"Accepted", "Programmed", "Available", "Ready"} {
				w.want(s, typ, "False/NameConflict")
			}
			if got := w.recorder.take(); !slices.Equal(got, []string{"Warning NameConflict"}) {
				t.Errorf("told %q", got)
			}
			for other, obj := range foreignChildren(s) {
				if other != kind && w.get(obj, obj.GetName()) {
					t.Errorf("%s was written beside a foreign %s", other, kind)
				}
			}
			if w.fresh(s).Status.Address != nil {
				t.Error("an address is told that is not ours")
			}
			w.must(w.c.Delete(t.Context(), s))
			w.reconcile(s)
			if after := w.bytesOf(hand); after != before {
				t.Errorf("changed:\n%s\n%s", before, after)
			}
			// What the garbage collector would do depends on this alone.
			if strings.Contains(before, "ownerReferences") {
				t.Error("the object has an owner and would go with it")
			}
		})
	}
}

// O4: when the object in the way goes, all is made.
func TestConflictEnds(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	hand := foreignChildren(s)["Service"]
	w.must(w.c.Create(t.Context(), hand))
	w.reconcile(s)
	w.must(w.c.Delete(t.Context(), hand))
	w.reconcile(s)
	w.want(s, "Accepted", "True/Accepted")
	w.want(s, "Programmed", "True/Programmed")
}

// O4: `kubectl replace --force`, or delete and apply: the children of before
// are waited for, not fought over.
func TestPreviousIncarnation(t *testing.T) {
	w := newWorld(t)
	first := w.server(nil)
	w.reconcile(first)
	w.must(w.c.Delete(t.Context(), first))
	w.reconcile(first)
	w.recorder.take()
	second := w.server(nil)
	res := w.reconcile(second)
	if res.RequeueAfter == 0 || res.RequeueAfter > previousRetry {
		t.Errorf("looks again in %v", res.RequeueAfter)
	}
	w.want(second, "Accepted", "Unknown/WaitingForPrevious")
	w.want(second, "Ready", "Unknown/WaitingForPrevious")
	if !metav1.IsControlledBy(w.deployment(second), first) {
		t.Error("the Deployment of before was taken over")
	}
	// The garbage collector, played.
	w.must(w.c.Delete(t.Context(), w.deployment(first)))
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: first.Name}}
	w.must(w.c.Delete(t.Context(), svc))
	w.reconcile(second)
	w.want(second, "Accepted", "True/Accepted")
	if !metav1.IsControlledBy(w.deployment(second), second) {
		t.Error("no Deployment for the second")
	}
	for _, l := range w.recorder.take() {
		if strings.HasPrefix(l, "Warning") {
			t.Errorf("told %q of what is in order", l)
		}
	}
}

// A child of ours that is on its way out is waited for.
func TestChildBeingDeleted(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)
	d := w.deployment(s)
	d.Finalizers = []string{"example.com/hold"}
	w.must(w.c.Update(t.Context(), d))
	w.must(w.c.Delete(t.Context(), d))
	w.reconcile(s)
	w.want(s, "Accepted", "Unknown/WaitingForPrevious")
	d = w.deployment(s)
	d.Finalizers = nil
	w.must(w.c.Update(t.Context(), d))
	w.reconcile(s)
	w.want(s, "Accepted", "True/Accepted")
	if w.deployment(s).DeletionTimestamp != nil {
		t.Error("no new Deployment")
	}
}

// O13: the policy goes when it is not wanted, only if it is ours, and comes
// back.
func TestNetworkPolicyIsSwitched(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)
	name := desired.NamesOf(s).NetworkPolicy
	mode := func(m v1alpha1.NetworkPolicyMode) {
		w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Network.Policy = m })
		w.reconcile(s)
	}
	mode(v1alpha1.NetworkPolicyUnmanaged)
	if w.get(&networkingv1.NetworkPolicy{}, name) {
		t.Error("the policy stays")
	}
	if got := w.recorder.take(); !slices.Contains(got, "Normal Removed") {
		t.Errorf("told %q", got)
	}
	hand := foreignChildren(s)["NetworkPolicy"]
	w.must(w.c.Create(t.Context(), hand))
	before := w.bytesOf(hand)
	w.reconcile(s)
	w.want(s, "Accepted", "True/Accepted")
	if w.bytesOf(hand) != before {
		t.Error("the user's own policy was changed")
	}
	w.must(w.c.Delete(t.Context(), hand))
	mode(v1alpha1.NetworkPolicyManaged)
	if !w.get(&networkingv1.NetworkPolicy{}, name) {
		t.Error("the policy does not come back")
	}
}
