package mcpserver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func (w *world) annotation(pod *corev1.Pod) string {
	w.t.Helper()
	now := &corev1.Pod{}
	if !w.get(now, pod.Name) {
		w.t.Fatal("no pod")
	}
	return now.Annotations[AnnotationLive]
}

// O15: exactly the running pods that lag are touched, with another value each
// time, every ten seconds, until they agree.
func TestTouch(t *testing.T) {
	w := newWorld(t)
	s := w.server(func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(2)) })
	pods := w.serving(s, 2)
	for _, p := range pods {
		if got := w.annotation(p); got != "" {
			t.Errorf("a new pod was touched: %q", got)
		}
	}
	generation := w.deployment(s).Generation
	w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Limits.RequestSeconds = ptr.To(int32(7)) })
	w.pass(3 * time.Second)
	res := w.reconcile(s)
	digest := w.digest(s)
	for _, p := range pods {
		if got := w.annotation(p); got != digest {
			t.Errorf("annotation %q", got)
		}
	}
	if d := w.deployment(s); d.Generation != generation {
		t.Error("a change of limits changed the Deployment")
	}
	w.want(s, "Programmed", "False/LiveContractLagging")
	w.want(s, "Ready", "True/Ready")
	if res.RequeueAfter > watchAgain {
		t.Errorf("looks again in %v", res.RequeueAfter)
	}

	w.sidecars.set(pods[0], func(st *config.Status) { st.LiveDigest = digest })
	w.pass(5 * time.Second)
	w.reconcile(s)
	if got := w.annotation(pods[1]); got != digest {
		t.Errorf("touched again after five seconds: %q", got)
	}
	w.pass(6 * time.Second)
	w.reconcile(s)
	if got := w.annotation(pods[1]); got != digest+".2" {
		t.Errorf("second touch %q", got)
	}
	if got := w.annotation(pods[0]); got != digest {
		t.Errorf("a pod that agrees was touched: %q", got)
	}
	w.sidecars.set(pods[1], func(st *config.Status) { st.LiveDigest = digest })
	w.pass(5 * time.Second)
	w.reconcile(s)
	w.want(s, "Programmed", "True/Programmed")
	w.want(s, "Degraded", "")
}

func TestLiveContractRefused(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	pods := w.serving(s, 1)
	w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Limits.RequestSeconds = ptr.To(int32(7)) })
	w.sidecars.set(pods[0], func(st *config.Status) { st.LiveError = "unknown field" })
	for range 4 {
		w.pass(11 * time.Second)
		w.reconcile(s)
	}
	w.want(s, "Programmed", "False/LiveContractRejected")
	w.want(s, "Degraded", "True/LiveContractRejected")
	w.want(s, "Ready", "True/Ready")
	if got := w.annotation(pods[0]); got != w.digest(s) {
		t.Errorf("a sidecar that refused is told again and again: %q", got)
	}
}

// O7: a status that cannot be read never changes Ready.
func TestStatusUnreachable(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	pods := w.serving(s, 1)
	w.sidecars.silence(pods[0])
	for range 3 {
		w.pass(61 * time.Second)
		w.reconcile(s)
	}
	w.want(s, "Programmed", "Unknown/StatusUnreachable")
	w.want(s, "Degraded", "True/StatusUnreachable")
	w.want(s, "Ready", "True/Ready")
	w.want(s, "Available", "True/Available")
	if got := w.fresh(s).Status.Server; got == nil || got.Name != "demo" {
		t.Errorf("what was known of the workload is gone: %v", got)
	}
}

// D9, O8, O16.
func TestKeySecret(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)
	name := desired.NamesOf(s).Secret
	first := &corev1.Secret{}
	w.get(first, name)
	seal := string(first.Data[config.SealWith])
	if len(first.Data[seal]) != config.KeyBytes || len(first.Data) != 2 {
		t.Fatalf("entries %v", first.Data)
	}
	w.recorder.take()

	t.Run("a key that was added, as a rotation does, is kept", func(t *testing.T) {
		now := &corev1.Secret{}
		w.get(now, name)
		now.Data["new"] = bytes.Repeat([]byte{5}, config.KeyBytes)
		w.must(w.c.Update(t.Context(), now))
		w.reconcile(s)
		w.get(now, name)
		if len(now.Data) != 3 || string(now.Data[config.SealWith]) != seal {
			t.Errorf("entries %v", now.Data)
		}
		if got := w.recorder.take(); len(got) > 0 {
			t.Errorf("told %q", got)
		}
	})
	t.Run("a lost Secret is made anew, and said", func(t *testing.T) {
		w.must(w.c.Delete(t.Context(), first))
		w.reconcile(s)
		now := &corev1.Secret{}
		if !w.get(now, name) {
			t.Fatal("no Secret")
		}
		if got := string(now.Data[config.SealWith]); got == seal || len(now.Data[got]) != config.KeyBytes {
			t.Errorf("sealWith %q, before %q", got, seal)
		}
		if got := w.recorder.take(); !slices.Equal(got, []string{"Warning KeysLost"}) {
			t.Errorf("told %q", got)
		}
	})
	t.Run("a damaged one too", func(t *testing.T) {
		now := &corev1.Secret{}
		w.get(now, name)
		now.Data = map[string][]byte{config.SealWith: []byte("nothing")}
		w.must(w.c.Update(t.Context(), now))
		w.reconcile(s)
		w.get(now, name)
		if len(now.Data[string(now.Data[config.SealWith])]) != config.KeyBytes {
			t.Errorf("entries %v", now.Data)
		}
		if got := w.recorder.take(); !slices.Contains(got, "Warning KeysLost") {
			t.Errorf("told %q", got)
		}
	})
}

// O25: with a volume that one node only can use, old pods go first.
func TestSingleWriter(t *testing.T) {
	w := newWorld(t)
	claim := func(name string, mode corev1.PersistentVolumeAccessMode) {
		w.must(w.c.Create(t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{mode},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: mustQuantity("1Gi")}}},
		}))
	}
	claim("shared", corev1.ReadWriteMany)
	volume := func(names ...string) func(*v1alpha1.McpServer) {
		return func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Volumes = nil
			for i, n := range names {
				s.Spec.Workload.Volumes = append(s.Spec.Workload.Volumes, v1alpha1.Volume{
					Name: fmt.Sprintf("v%d", i), PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: n},
				})
			}
		}
	}
	s := w.server(volume("shared", "single"))
	w.reconcile(s)
	w.want(s, "ResolvedRefs", "False/VolumeNotFound")
	if got := w.deployment(s).Spec.Strategy.Type; got != appsv1.RollingUpdateDeploymentStrategyType {
		t.Errorf("strategy %s", got)
	}
	w.recorder.take()
	claim("single", corev1.ReadWriteOnce)
	w.reconcile(s)
	w.want(s, "ResolvedRefs", "True/ResolvedRefs")
	if got := w.deployment(s).Spec.Strategy; got.Type != appsv1.RecreateDeploymentStrategyType || got.RollingUpdate != nil {
		t.Errorf("strategy %v", got)
	}
	if got := w.recorder.take(); !slices.Equal(got, []string{"Warning RecreateStrategy"}) {
		t.Errorf("told %q", got)
	}
	w.edit(s, volume("shared"))
	w.reconcile(s)
	if got := w.deployment(s).Spec.Strategy.Type; got != appsv1.RollingUpdateDeploymentStrategyType {
		t.Errorf("strategy %s", got)
	}
}

// O22: a new operator rolls no fleet; the user's next change, or a restart,
// brings its part along.
func TestOperatorUpgrade(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.serving(s, 1)
	image := func() string { return w.deployment(s).Spec.Template.Spec.InitContainers[0].Image }
	old := image()
	upgrade := func(to string) {
		w.dataPlane.Image = to
		w.restartOperator()
		w.reconcile(s)
	}
	w.recorder.take()
	before := w.versions(s)
	upgrade("registry.example/sidecar:2")
	if image() != old || w.versions(s) != before {
		t.Errorf("the upgrade wrote: %s", image())
	}
	w.want(s, "Ready", "True/Ready")

	t.Run("scaling does not bring it", func(t *testing.T) {
		w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(2)) })
		w.reconcile(s)
		if image() != old || *w.deployment(s).Spec.Replicas != 2 {
			t.Errorf("%s, %d replicas", image(), *w.deployment(s).Spec.Replicas)
		}
	})
	t.Run("a change of the template does", func(t *testing.T) {
		w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "registry.example/demo:2" })
		w.reconcile(s)
		if image() != "registry.example/sidecar:2" {
			t.Error(image())
		}
	})
	t.Run("kubectl rollout restart does", func(t *testing.T) {
		upgrade("registry.example/sidecar:3")
		if image() != "registry.example/sidecar:2" {
			t.Fatal(image())
		}
		d := w.deployment(s)
		d.Spec.Template.Annotations = map[string]string{annotationRestartedAt: "2026-01-01T00:00:00Z"}
		w.must(w.c.Update(t.Context(), d))
		w.reconcile(s)
		if image() != "registry.example/sidecar:3" {
			t.Error(image())
		}
		if got := w.deployment(s).Spec.Template.Annotations[annotationRestartedAt]; got == "" {
			t.Error("the restart was undone")
		}
		before := w.versions(s)
		w.reconcile(s)
		if w.versions(s) != before {
			t.Error("no rest after a restart")
		}
	})
	if got := strings.Join(w.recorder.take(), ", "); strings.Contains(got, "Corrected") {
		t.Errorf("an upgrade is told as somebody's edit: %s", got)
	}
	t.Run("somebody's change of the template is still put back", func(t *testing.T) {
		upgrade("registry.example/sidecar:4")
		if image() != "registry.example/sidecar:3" {
			t.Fatal(image())
		}
		d := w.deployment(s)
		d.Spec.Template.Spec.Containers[0].Image = "evil:1"
		w.must(w.c.Update(t.Context(), d))
		w.reconcile(s)
		if got := w.deployment(s).Spec.Template.Spec.Containers[0].Image; got != "registry.example/demo:2" {
			t.Errorf("the pods run %s", got)
		}
		if got := w.recorder.take(); !slices.Contains(got, "Warning Corrected") {
			t.Errorf("told %q", got)
		}
	})
}
