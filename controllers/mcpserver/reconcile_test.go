package mcpserver

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func TestFirstApply(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)

	n := desired.NamesOf(s)
	for name, obj := range map[string]client.Object{
		n.Deployment: &appsv1.Deployment{}, n.Secret: &corev1.Secret{}, n.ConfigMap: &corev1.ConfigMap{},
		n.ServiceAccount: &corev1.ServiceAccount{}, n.PDB: &policyv1.PodDisruptionBudget{}, n.NetworkPolicy: &networkingv1.NetworkPolicy{},
	} {
		if !w.get(obj, name) {
			t.Errorf("no %T %s", obj, name)
			continue
		}
		if !metav1.IsControlledBy(obj, s) {
			t.Errorf("%T %s would stay when the server goes", obj, name)
		}
	}
	w.want(s, "Accepted", "True/Accepted")
	w.want(s, "Programmed", "True/Programmed")
	w.want(s, "Available", "False/Starting")
	w.want(s, "Ready", "Unknown/RollingOut")
	if got := w.fresh(s).Status; got.Address.URL != "http://demo."+w.ns+".svc/mcp" || got.Selector != "mcp.fairlead.dev/server=demo" {
		t.Errorf("address %v, selector %q", got.Address, got.Selector)
	}
	if got := w.recorder.take(); !slices.Equal(got, []string{"Normal Created", "Normal Programmed"}) {
		t.Errorf("told %q", got)
	}
}

func TestBecomesReady(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.serving(s, 1)
	w.want(s, "Available", "True/Available")
	w.want(s, "Ready", "True/Ready")
	w.want(s, "Programmed", "True/Programmed")
	st := w.fresh(s).Status
	if *st.ReadyReplicas != 1 || *st.UpdatedReadyReplicas != 1 || *st.Replicas != 1 {
		t.Errorf("replicas %d, ready %d, updated %d", *st.Replicas, *st.ReadyReplicas, *st.UpdatedReadyReplicas)
	}
	if st.Server == nil || st.Server.Name != "demo" || st.Server.ProtocolVersion != "2025-11-25" {
		t.Errorf("server %+v", st.Server)
	}
}

// O19: at rest, and after a restart, nothing is written.
func TestSteadyStateWritesNothing(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.serving(s, 1)
	before := w.versions(s)
	w.recorder.take()
	w.writes.take()
	for i := range 3 {
		w.pass(time.Minute)
		if i == 2 {
			w.restartOperator()
		}
		if res := w.reconcile(s); res.RequeueAfter < resync/2 {
			t.Errorf("round %d: looks again in %v", i, res.RequeueAfter)
		}
	}
	if after := w.versions(s); after != before {
		t.Errorf("versions moved:\n%s\n%s", before, after)
	}
	if got := w.writes.take(); len(got) > 0 {
		t.Errorf("wrote %q at rest", got)
	}
	if got := w.recorder.take(); len(got) > 0 {
		t.Errorf("told %q at rest", got)
	}
}

// versions lists the resourceVersion of the server and everything of it.
func (w *world) versions(s *v1alpha1.McpServer) string {
	w.t.Helper()
	n := desired.NamesOf(s)
	var out []string
	for _, o := range []struct {
		obj  client.Object
		name string
	}{
		{&v1alpha1.McpServer{}, s.Name}, {&appsv1.Deployment{}, n.Deployment}, {&corev1.Service{}, n.Service},
		{&corev1.Secret{}, n.Secret}, {&corev1.ConfigMap{}, n.ConfigMap}, {&corev1.ServiceAccount{}, n.ServiceAccount},
		{&policyv1.PodDisruptionBudget{}, n.PDB}, {&networkingv1.NetworkPolicy{}, n.NetworkPolicy},
	} {
		if w.get(o.obj, o.name) {
			out = append(out, o.name+"="+o.obj.GetResourceVersion())
		}
	}
	pods := &corev1.PodList{}
	w.must(w.c.List(w.t.Context(), pods, client.InNamespace(w.ns)))
	for _, p := range pods.Items {
		out = append(out, p.Name+"="+p.ResourceVersion)
	}
	return strings.Join(out, " ")
}

// D12: what somebody else changes is put back, and said.
func TestDriftIsCorrected(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.serving(s, 1)
	w.recorder.take()
	n := desired.NamesOf(s)

	svc := &corev1.Service{}
	w.get(svc, n.Service)
	svc.Spec.Selector = map[string]string{"app": "other"}
	w.must(w.c.Update(t.Context(), svc))
	d := w.deployment(s)
	d.Spec.Replicas = ptr.To(int32(7))
	d.Spec.Template.Spec.Containers[0].Image = "evil:1"
	w.must(w.c.Update(t.Context(), d))
	cm := &corev1.ConfigMap{}
	w.get(cm, n.ConfigMap)
	cm.BinaryData = map[string][]byte{config.LiveKey(1): []byte("junk")}
	cm.Labels = nil // also out of the cache's sight
	w.must(w.c.Update(t.Context(), cm))
	w.must(w.c.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: n.PDB}}))

	w.reconcile(s)
	w.get(svc, n.Service)
	d = w.deployment(s)
	if svc.Spec.Selector[v1alpha1.LabelServer] != "demo" || svc.Spec.Selector["app"] == "" && len(svc.Spec.Selector) > 2 {
		t.Errorf("Service selects %v", svc.Spec.Selector)
	}
	if *d.Spec.Replicas != 1 || d.Spec.Template.Spec.Containers[0].Image != "registry.example/demo:1" {
		t.Errorf("Deployment has %d replicas of %s", *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image)
	}
	w.digest(s) // fails if it cannot be decoded
	if !w.get(&policyv1.PodDisruptionBudget{}, n.PDB) {
		t.Error("the PodDisruptionBudget stays away")
	}
	got := w.recorder.take()
	if c := countWord(got, "Warning Corrected"); c != 3 {
		t.Errorf("told %q, want three corrections", got)
	}
}

func countWord(list []string, word string) int {
	n := 0
	for _, l := range list {
		if l == word {
			n++
		}
	}
	return n
}

// O5: only the operator writes the Deployment's replicas, from one number.
func TestScale(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.serving(s, 1)
	w.recorder.take()
	w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(3)) })
	w.reconcile(s)
	if d := w.deployment(s); *d.Spec.Replicas != 3 {
		t.Errorf("%d replicas", *d.Spec.Replicas)
	}
	w.want(s, "Ready", "True/Ready")
	w.deployed(s, "NewReplicaSetAvailable")
	w.reconcile(s)
	w.want(s, "Degraded", "") // the new pods are young
	w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(0)) })
	w.reconcile(s)
	w.want(s, "Available", "False/ScaledToZero")
	w.want(s, "Ready", "False/ScaledToZero")
	if got := w.recorder.take(); !slices.Equal(got, []string{"Normal Scaled", "Normal Scaled", "Normal ScaledToZero"}) {
		t.Errorf("told %q", got)
	}
}

// O7: a rolling update, as conditions tell it; O1: what the pods of both
// templates share stays valid for both.
func TestRollout(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	old := w.serving(s, 1)
	w.recorder.take()
	live := w.digest(s)
	w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "registry.example/demo:2" })
	w.reconcile(s)
	w.want(s, "Available", "True/Available")
	w.want(s, "Ready", "Unknown/RollingOut")
	if w.digest(s) != live {
		t.Error("a change of the template changed what running pods read")
	}
	w.recorder.mu.Lock()
	line := strings.Join(w.recorder.lines, "\n")
	w.recorder.mu.Unlock()
	if !strings.Contains(line, "RollingOut: Replacing the pods: spec.workload.image changed.") {
		t.Errorf("told %q", line)
	}

	fresh := w.pod(s, "demo-new")
	w.setPod(fresh, func(st *corev1.PodStatus) {
		st.Phase = corev1.PodPending
		st.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "pull 4711"}}}}
	})
	w.deployed(s, "ReplicaSetUpdated")
	w.reconcile(s)
	w.want(s, "Available", "True/Available")
	w.want(s, "Ready", "False/ImagePullFailed")

	w.ready(fresh, true)
	w.setPod(fresh, func(st *corev1.PodStatus) { st.Phase = corev1.PodRunning })
	w.sidecars.set(fresh, func(st *config.Status) { st.LiveDigest = live })
	w.reconcile(s)
	w.want(s, "Ready", "True/Ready")
	w.must(w.c.Delete(t.Context(), old[0], client.GracePeriodSeconds(0)))
	w.deployed(s, "NewReplicaSetAvailable")
	w.reconcile(s)
	w.want(s, "Ready", "True/Ready")
	w.want(s, "Available", "True/Available")
}

func TestProgressDeadline(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)
	w.pod(s, "demo-0")
	w.deployed(s, "ReplicaSetUpdated")
	w.reconcile(s)
	w.want(s, "Ready", "Unknown/RollingOut")
	w.deployed(s, "ProgressDeadlineExceeded")
	w.reconcile(s)
	w.want(s, "Ready", "False/ProgressDeadlineExceeded")
}

func TestDeletedServerIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)
	now := w.fresh(s)
	now.Finalizers = []string{"example.com/hold"}
	w.must(w.c.Update(t.Context(), now))
	w.must(w.c.Delete(t.Context(), now))
	w.must(w.c.Delete(t.Context(), w.deployment(s)))
	w.reconcile(s)
	if w.get(&appsv1.Deployment{}, s.Name) {
		t.Error("a child was made for a server that goes")
	}
	now = w.fresh(s)
	now.Finalizers = nil
	w.must(w.c.Update(t.Context(), now))
	if res := w.reconcile(s); res.RequeueAfter != 0 {
		t.Errorf("a server that is gone is looked at again in %v", res.RequeueAfter)
	}
	if len(w.r.memories.servers) != 0 {
		t.Error("a server that is gone is remembered")
	}
}

// The API server knows rules for pods that no schema has.
func TestInvalidPodTemplate(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.serving(s, 1)
	w.edit(s, func(s *v1alpha1.McpServer) {
		s.Spec.Pod.Labels = map[string]string{"not/a/label": "x"}
	})
	res := w.reconcile(s)
	w.want(s, "Accepted", "False/InvalidPodTemplate")
	w.want(s, "Ready", "False/InvalidPodTemplate")
	w.want(s, "Available", "True/Available") // old pods keep serving
	if res.RequeueAfter == 0 || res.RequeueAfter > resync {
		t.Errorf("looks again in %v", res.RequeueAfter)
	}
	w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Pod.Labels = nil })
	w.reconcile(s)
	w.want(s, "Accepted", "True/Accepted")
	w.want(s, "Ready", "True/Ready")
}
