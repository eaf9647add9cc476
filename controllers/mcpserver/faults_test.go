package mcpserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func mustQuantity(s string) resource.Quantity { return resource.MustParse(s) }

// starting is a server whose one pod is being started by the kubelet.
func starting(t *testing.T, edit func(*v1alpha1.McpServer)) (*world, *v1alpha1.McpServer, *corev1.Pod) {
	t.Helper()
	w := newWorld(t)
	s := w.server(edit)
	w.reconcile(s)
	p := w.pod(s, "demo-0")
	w.deployed(s, "ReplicaSetUpdated")
	return w, s, p
}

func creating(st *corev1.PodStatus) {
	st.Phase = corev1.PodPending
	st.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}}
}

// O18: only the events know of a missing Secret volume, and recovery is seen
// as soon as the pod is ready.
func TestMissingSecretVolume(t *testing.T) {
	w, s, p := starting(t, func(s *v1alpha1.McpServer) {
		s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "v", Secret: &corev1.SecretVolumeSource{SecretName: "files"}}}
	})
	w.setPod(p, creating)
	w.must(w.c.Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: w.ns, Name: "e1"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: w.ns, Name: p.Name, UID: p.UID},
		Reason:         "FailedMount", Type: "Warning",
		Message: fmt.Sprintf(`MountVolume.SetUp failed for volume "v" : secret "files" not found %s`, p.UID),
	}))
	w.pass(3 * time.Second)
	res := w.reconcile(s)
	w.want(s, "ResolvedRefs", "False/VolumeNotFound")
	w.want(s, "Available", "False/VolumeNotFound")
	w.want(s, "Ready", "Unknown/RollingOut")
	if res.RequeueAfter > watchAgain {
		t.Errorf("looks again in %v; recovery must show within 10 s", res.RequeueAfter)
	}
	w.ready(p, true)
	w.setPod(p, func(st *corev1.PodStatus) { st.Phase = corev1.PodRunning })
	w.sidecars.set(p, func(st *config.Status) { st.LiveDigest = w.digest(s) })
	w.reconcile(s)
	w.want(s, "ResolvedRefs", "True/ResolvedRefs")
	w.want(s, "Ready", "True/Ready")
}

// O18: the conditions do not change while a command keeps exiting, through
// every state that the kubelet shows meanwhile.
func TestCrashingCommandDoesNotFlap(t *testing.T) {
	w, s, p := starting(t, nil)
	end := &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", FinishedAt: metav1.NewTime(w.clock.Now())}
	show := func(restarts int32, state corev1.ContainerState, last *corev1.ContainerStateTerminated) {
		w.pass(4 * time.Second)
		w.setPod(p, func(st *corev1.PodStatus) {
			st.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", RestartCount: restarts, State: state,
				LastTerminationState: corev1.ContainerState{Terminated: last}}}
		})
		w.reconcile(s)
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	back := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s"}}
	ended := corev1.ContainerState{Terminated: end}

	show(0, ended, nil)
	w.want(s, "Available", "False/WorkloadExited")
	version := w.fresh(s).ResourceVersion
	show(0, back, end)
	show(1, running, end)
	show(1, ended, end)
	show(1, back, end)
	if w.fresh(s).ResourceVersion != version {
		t.Error("the status was written again while nothing changed")
	}
	show(2, running, end)
	w.want(s, "Ready", "Unknown/RollingOut")
	show(2, ended, end)
	w.want(s, "Available", "False/WorkloadCrashLooping")
	w.want(s, "Ready", "False/WorkloadCrashLooping") // the third end is final
}

// O18: processes that keep ending are the sidecar's to report: the container,
// which is the agent, runs all the time. It is final at once, and over as soon
// as a process lives.
func TestCrashLoopingProcesses(t *testing.T) {
	w, s, p := starting(t, nil)
	running := func(st *corev1.PodStatus) {
		st.Phase = corev1.PodRunning
		st.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.clock.Now().Add(-time.Minute))}}}}
	}
	w.setPod(p, running)
	report := func(reason string) {
		code := 7
		w.sidecars.set(p, func(st *config.Status) {
			st.Ready, st.Workload = false, config.WorkloadStatus{State: config.WorkloadFailed, Reason: reason, ExitCode: &code}
		})
		w.pass(6 * time.Second)
		w.reconcile(s)
	}
	report(config.ReasonExited)
	w.want(s, "Available", "False/WorkloadExited")
	w.want(s, "Ready", "Unknown/RollingOut")
	report(config.ReasonCrashLooping)
	w.want(s, "Available", "False/WorkloadCrashLooping")
	w.want(s, "Ready", "False/WorkloadCrashLooping")
	w.sidecars.set(p, func(st *config.Status) {
		st.Ready, st.Workload, st.LiveDigest = true, config.WorkloadStatus{State: config.WorkloadUp}, w.digest(s)
	})
	w.ready(p, true)
	w.pass(6 * time.Second)
	w.reconcile(s)
	w.want(s, "Ready", "True/Ready")
}

func TestPodsForbidden(t *testing.T) {
	w := newWorld(t)
	s := w.server(nil)
	w.reconcile(s)
	w.deployed(s, "NewReplicaSetCreated", appsv1.DeploymentCondition{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: `pods "demo-4711" is forbidden`,
	})
	w.reconcile(s)
	w.want(s, "Available", "False/PodsForbidden")
	w.want(s, "Ready", "False/PodsForbidden")
	w.deployed(s, "NewReplicaSetCreated")
	w.pass(31 * time.Second)
	w.reconcile(s)
	w.want(s, "Ready", "Unknown/RollingOut")
}

// O9: said as what it is, whoever refuses it first.
func TestRootAskedFor(t *testing.T) {
	w := newWorld(t)
	s := w.server(func(s *v1alpha1.McpServer) {
		s.Spec.Workload.SecurityContext = &corev1.SecurityContext{RunAsUser: ptrTo(int64(0))}
	})
	w.reconcile(s)
	w.deployed(s, "NewReplicaSetCreated", appsv1.DeploymentCondition{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate",
	})
	w.reconcile(s)
	w.want(s, "Ready", "False/ImageRunsAsRoot")
}

// O18: what the sidecar reports is worded; the workload's own words stay out.
func TestHandshakeFailure(t *testing.T) {
	w, s, p := starting(t, nil)
	w.ready(p, false)
	w.sidecars.set(p, func(st *config.Status) {
		st.Workload = config.WorkloadStatus{State: config.WorkloadFailed, Reason: config.ReasonBadOutput, StderrTail: []string{"password=1"}}
	})
	w.reconcile(s)
	w.want(s, "Available", "False/WorkloadBadOutput")
	w.want(s, "Ready", "Unknown/RollingOut")
	for _, c := range w.fresh(s).Status.Conditions {
		if c.Message == "" || strings.Contains(c.Message, "password") {
			t.Errorf("%s: %q", c.Type, c.Message)
		}
	}
}

// O20: one pod of several is lost: clients feel nothing.
func TestOnePodIsLost(t *testing.T) {
	w := newWorld(t)
	s := w.server(func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptrTo(int32(2)) })
	pods := w.serving(s, 2)
	w.pass(2 * time.Minute)
	w.ready(pods[1], false)
	w.reconcile(s)
	w.want(s, "Available", "True/Available")
	w.want(s, "Ready", "True/Ready")
	w.want(s, "Degraded", "True/ReplicasNotReady")
	w.ready(pods[1], true)
	w.reconcile(s)
	w.want(s, "Degraded", "")
	if w.condition(s, "Degraded") != "" {
		t.Error("Degraded stays")
	}
}

// O5: an autoscaler that is aimed at the Deployment is not fought: at most one
// write of replicas in ten minutes, and they never dip to the default.
func TestAutoscalerOnTheDeployment(t *testing.T) {
	w := newWorld(t)
	s := w.server(func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptrTo(int32(2)) })
	w.serving(s, 2)
	hpa := func(n int32) {
		d := w.deployment(s)
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}
		w.must(w.c.SubResource("scale").Update(t.Context(), d, client.WithSubResourceBody(scale), client.FieldOwner(autoscalerManager)))
	}
	replicas := func() int32 { return *w.deployment(s).Spec.Replicas }

	hpa(5)
	w.writes.take()
	for range 9 {
		w.pass(time.Minute)
		w.reconcile(s)
		if replicas() != 5 {
			t.Fatalf("%d replicas", replicas())
		}
	}
	w.want(s, "Degraded", "True/ConflictingAutoscaler")
	for _, line := range w.writes.take() {
		if strings.Contains(line, "/deployments/") {
			t.Errorf("wrote %s", line)
		}
	}
	t.Run("a change of the template still goes out", func(t *testing.T) {
		w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "registry.example/demo:2" })
		w.reconcile(s)
		if d := w.deployment(s); *d.Spec.Replicas != 5 || d.Spec.Template.Spec.Containers[0].Image != "registry.example/demo:2" {
			t.Errorf("%d replicas of %s", *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image)
		}
	})
	t.Run("taken back once in ten minutes, and left again", func(t *testing.T) {
		w.pass(2 * time.Minute)
		w.reconcile(s)
		if replicas() != 2 {
			t.Errorf("%d replicas", replicas())
		}
		hpa(4)
		w.pass(10 * time.Second)
		w.reconcile(s)
		w.want(s, "Degraded", "True/ConflictingAutoscaler")
		if replicas() != 4 {
			t.Errorf("%d replicas", replicas())
		}
	})
	t.Run("when it is gone all is as before", func(t *testing.T) {
		w.pass(11 * time.Minute)
		w.reconcile(s)
		w.want(s, "Degraded", "True/ConflictingAutoscaler")
		w.pass(2 * time.Minute)
		w.deployed(s, "NewReplicaSetAvailable")
		w.reconcile(s)
		if replicas() != 2 || w.condition(s, "Degraded") == "True/ConflictingAutoscaler" {
			t.Errorf("%d replicas, Degraded %s", replicas(), w.condition(s, "Degraded"))
		}
		w.edit(s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptrTo(int32(3)) })
		w.reconcile(s)
		if replicas() != 3 {
			t.Errorf("%d replicas", replicas())
		}
	})
}
