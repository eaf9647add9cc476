package podfault_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// volatile is in every text of the kubelet below, and must be in no message.
const volatile = "pod-uid-4711 back-off 2m40s"

type podOption func(*corev1.Pod)

func pod(opts ...podOption) *corev1.Pod {
	p := &corev1.Pod{
		Spec: corev1.PodSpec{NodeName: "n"},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending,
			InitContainerStatuses: []corev1.ContainerStatus{
				{Name: "agent-install", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}},
				{Name: "mcp-sidecar", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Ready: false},
			},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "workload", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Ready: true},
			},
		},
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

func status(p *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	panic("no container " + name)
}

func waits(name, reason, text string) podOption {
	return func(p *corev1.Pod) {
		s := status(p, name)
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: text + " " + volatile}}
		s.Ready = false
	}
}

func terminated(code int32, reason string, ago time.Duration) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: volatile, FinishedAt: metav1.NewTime(now.Add(-ago))}
}

func endedNow(name string, code int32, reason string) podOption {
	return func(p *corev1.Pod) {
		s := status(p, name)
		s.State, s.Ready = corev1.ContainerState{Terminated: terminated(code, reason, 0)}, false
	}
}

// restarted: it runs again after it ended some time ago.
func restarted(name string, code int32, ago time.Duration, ready bool) podOption {
	return func(p *corev1.Pod) {
		s := status(p, name)
		s.LastTerminationState.Terminated, s.RestartCount, s.Ready = terminated(code, "Error", ago), 1, ready
	}
}

func backsOff(name string, code int32, reason string, restarts int32) podOption {
	return func(p *corev1.Pod) {
		waits(name, "CrashLoopBackOff", "")(p)
		s := status(p, name)
		s.LastTerminationState.Terminated, s.RestartCount = terminated(code, reason, time.Minute), restarts
	}
}

func notScheduled(p *corev1.Pod) {
	p.Spec.NodeName, p.Status.InitContainerStatuses, p.Status.ContainerStatuses = "", nil, nil
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: volatile}}
}

func creating(p *corev1.Pod) {
	waits("agent-install", "PodInitializing", "")(p)
	waits("mcp-sidecar", "PodInitializing", "")(p)
	waits("workload", "PodInitializing", "")(p)
}

func spec() *v1alpha1.McpServerSpec {
	return &v1alpha1.McpServerSpec{Workload: v1alpha1.Workload{
		Env: []corev1.EnvVar{
			{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "creds"}, Key: "token"}}},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "maybe"}, Key: "x", Optional: ptr.To(true)}}},
		},
		Volumes: []v1alpha1.Volume{
			{Name: "v", Secret: &corev1.SecretVolumeSource{SecretName: "files"}},
			{Name: "w", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}},
		},
	}}
}

// O18: the reasons of its table, in our words.
func TestOf(t *testing.T) {
	asRoot := spec()
	asRoot.Workload.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To(int64(0))}
	sidecarEnv := spec()
	sidecarEnv.Pod.Sidecar.Env = []corev1.EnvVar{{Name: "CA", ValueFrom: &corev1.EnvVarSource{
		ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "trust"}, Key: "ca"},
	}}}
	reports := func(reason string, code *int) *config.Status {
		return &config.Status{Workload: config.WorkloadStatus{State: config.WorkloadFailed, Reason: reason, ExitCode: code, StderrTail: []string{volatile}}}
	}
	tests := map[string]struct {
		pod      *corev1.Pod
		spec     *v1alpha1.McpServerSpec
		mounts   podfault.MountFailure
		status   *config.Status
		want     string // reason, "" for none
		terminal bool
		says     string
	}{
		"a pod that starts has no fault":         {pod: pod()},
		"no node":                                {pod: pod(notScheduled), want: v1alpha1.ReasonUnschedulable},
		"image that the registry does not have":  {pod: pod(waits("workload", "ErrImagePull", "404")), want: v1alpha1.ReasonImagePullFailed, terminal: true, says: "workload's image"},
		"the same while the kubelet backs off":   {pod: pod(waits("workload", "ImagePullBackOff", "Back-off")), want: v1alpha1.ReasonImagePullFailed, terminal: true, says: "workload's image"},
		"our own image":                          {pod: pod(waits("agent-install", "ImagePullBackOff", "")), want: v1alpha1.ReasonImagePullFailed, terminal: true, says: "operator's own image"},
		"image that must be on the node already": {pod: pod(waits("workload", "ErrImageNeverPull", "")), want: v1alpha1.ReasonImagePullFailed, terminal: true, says: "Never"},
		"image that is no reference":             {pod: pod(waits("workload", "InvalidImageName", "")), want: v1alpha1.ReasonInvalidImageName, terminal: true},
		"Secret of an environment variable missing": {
			pod:  pod(waits("workload", "CreateContainerConfigError", `secret "creds" not found`)),
			want: v1alpha1.ReasonReferenceNotFound, terminal: true, says: "Secret creds key token",
		},
		"key of a Secret missing": {
			pod:  pod(waits("workload", "CreateContainerConfigError", `couldn't find key token in Secret team/creds`)),
			want: v1alpha1.ReasonReferenceNotFound, terminal: true, says: "Secret creds",
		},
		"ConfigMap of the sidecar's environment missing": {
			pod: pod(waits("mcp-sidecar", "CreateContainerConfigError", `configmap "trust" not found`)), spec: sidecarEnv,
			want: v1alpha1.ReasonReferenceNotFound, terminal: true, says: "ConfigMap trust key ca",
		},
		"root asked for": {
			pod: pod(waits("workload", "CreateContainerConfigError", "container's runAsUser breaks non-root policy")), spec: asRoot,
			want: v1alpha1.ReasonImageRunsAsRoot, terminal: true,
		},
		"configuration refused for another cause": {
			pod:  pod(waits("workload", "CreateContainerConfigError", "failed to prepare subPath")),
			want: v1alpha1.ReasonContainerConfigInvalid, terminal: true,
		},
		"program that is not in the image": {pod: pod(waits("workload", "RunContainerError", "exec: no such file")), want: v1alpha1.ReasonContainerStartFailed, terminal: true},
		"the same after the kubelet gave up for a while": {
			pod: pod(backsOff("workload", 128, "StartError", 3)), want: v1alpha1.ReasonContainerStartFailed, terminal: true,
		},
		"command that exits":                    {pod: pod(endedNow("workload", 3, "Error")), want: v1alpha1.ReasonWorkloadExited, says: "exit code 3"},
		"the same while it waits for its start": {pod: pod(backsOff("workload", 3, "Error", 1)), want: v1alpha1.ReasonWorkloadExited, says: "exit code 3"},
		"the same while it runs for a moment":   {pod: pod(restarted("workload", 3, time.Second, false)), want: v1alpha1.ReasonWorkloadExited, says: "exit code 3"},
		"an old restart explains nothing":       {pod: pod(restarted("workload", 3, time.Hour, false))},
		"a container that is ready again has no fault": {
			pod: pod(restarted("workload", 3, time.Second, true)),
		},
		"out of memory":                          {pod: pod(backsOff("workload", 137, "OOMKilled", 1)), want: v1alpha1.ReasonWorkloadOutOfMemory},
		"sidecar killed":                         {pod: pod(endedNow("mcp-sidecar", 137, "Error")), want: v1alpha1.ReasonSidecarFailed, says: "137"},
		"installer that fails":                   {pod: pod(backsOff("agent-install", 1, "Error", 2)), want: v1alpha1.ReasonSidecarFailed, says: "agent-install"},
		"Secret volume missing":                  {pod: pod(creating), mounts: podfault.MountSourceMissing, want: v1alpha1.ReasonVolumeNotFound, says: "Secret files, claim data"},
		"volume does not mount":                  {pod: pod(creating), mounts: podfault.MountFailed, want: v1alpha1.ReasonVolumeMountFailed},
		"an old event of a pod that got past it": {pod: pod(), mounts: podfault.MountSourceMissing},

		"reported: ended":            {pod: pod(), status: reports(config.ReasonExited, ptr.To(127)), want: v1alpha1.ReasonWorkloadExited, says: "exit code 127"},
		"reported: ended, no code":   {pod: pod(), status: reports(config.ReasonExited, nil), want: v1alpha1.ReasonWorkloadExited},
		"reported: no answer":        {pod: pod(), status: reports(config.ReasonNoAnswer, nil), want: v1alpha1.ReasonWorkloadNoAnswer},
		"reported: garbage":          {pod: pod(), status: reports(config.ReasonBadOutput, nil), want: v1alpha1.ReasonWorkloadBadOutput},
		"reported: nobody listens":   {pod: pod(), status: reports(config.ReasonRefused, nil), want: v1alpha1.ReasonWorkloadUnreachable},
		"reported: HTTP error":       {pod: pod(), status: reports(config.ReasonHTTPStatus, nil), want: v1alpha1.ReasonWorkloadHTTPStatus},
		"reported: crash loop":       {pod: pod(), status: reports(config.ReasonCrashLooping, nil), want: v1alpha1.ReasonWorkloadCrashLooping, terminal: true},
		"reported: bad handshake":    {pod: pod(), status: reports(config.ReasonBadHandshake, nil), want: v1alpha1.ReasonWorkloadBadHandshake},
		"reported: agent":            {pod: pod(), status: reports(config.ReasonAgentUnreachable, nil), want: v1alpha1.ReasonAgentUnreachable},
		"reported: unheard of":       {pod: pod(), status: reports("Newer", nil), want: v1alpha1.ReasonWorkloadBadHandshake},
		"reported: still starting":   {pod: pod(), status: &config.Status{Workload: config.WorkloadStatus{State: config.WorkloadStarting}}},
		"a crash outranks a refusal": {pod: pod(endedNow("workload", 3, "Error")), status: reports(config.ReasonRefused, nil), want: v1alpha1.ReasonWorkloadExited},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.spec == nil {
				tc.spec = spec()
			}
			got := podfault.Of(podfault.Evidence{
				Pod: tc.pod, Spec: tc.spec, Mounts: tc.mounts, Status: tc.status, Now: now, Workload: "workload",
			})
			if got == nil {
				if tc.want != "" {
					t.Fatalf("no fault, want %s", tc.want)
				}
				return
			}
			if got.Reason != tc.want || got.Terminal != tc.terminal {
				t.Errorf("got %s (terminal %v): %s; want %s (terminal %v)", got.Reason, got.Terminal, got.Message, tc.want, tc.terminal)
			}
			if !strings.Contains(got.Message, tc.says) {
				t.Errorf("message %q does not say %q", got.Message, tc.says)
			}
			for _, word := range strings.Fields(volatile) {
				if strings.Contains(got.Message, word) {
					t.Errorf("message quotes the kubelet: %q", got.Message)
				}
			}
			if !strings.HasSuffix(got.Message, ".") && !strings.HasSuffix(got.Message, "?") && !strings.HasSuffix(got.Message, ").") {
				t.Errorf("message is no sentence: %q", got.Message)
			}
			if !podfault.Known(got.Reason) {
				t.Errorf("%s has no rank", got.Reason)
			}
		})
	}
}

// O18: the events are needed only where the pod's status says nothing.
func TestNeedsEvents(t *testing.T) {
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"no container was created": {pod: pod(creating), want: true},
		"nothing reported yet":     {pod: pod(creating, func(p *corev1.Pod) { p.Status.InitContainerStatuses, p.Status.ContainerStatuses = nil, nil }), want: true},
		"no node yet":              {pod: pod(notScheduled)},
		"the sidecar runs": {pod: pod(creating, func(p *corev1.Pod) {
			status(p, "mcp-sidecar").State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		})},
		"an image cannot be pulled":      {pod: pod(creating, waits("agent-install", "ErrImagePull", ""))},
		"it runs":                        {pod: pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })},
		"its sandbox was made once more": {pod: pod(creating, func(p *corev1.Pod) { status(p, "mcp-sidecar").RestartCount = 1 })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podfault.NeedsEvents(tc.pod); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMountFailureOf(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         podfault.MountFailure
	}{
		"Secret missing":    {"FailedMount", `MountVolume.SetUp failed for volume "v" : secret "files" not found`, podfault.MountSourceMissing},
		"key missing":       {"FailedMount", `MountVolume.SetUp failed for volume "v" : references non-existent secret key: x`, podfault.MountSourceMissing},
		"something else":    {"FailedMount", `MountVolume.SetUp failed for volume "v" : mount failed: exit status 32`, podfault.MountFailed},
		"attach":            {"FailedAttachVolume", "Multi-Attach error", podfault.MountFailed},
		"no event of these": {"Pulling", "not found", podfault.MountsFine},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podfault.MountFailureOf(tc.reason, tc.text); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// O7: the third end of the current template is final.
func TestCrashLooping(t *testing.T) {
	tests := map[string]struct {
		pod      *corev1.Pod
		crashes  int
		want     string
		terminal bool
	}{
		"first end":                      {pod: pod(endedNow("workload", 3, "Error")), crashes: 1, want: v1alpha1.ReasonWorkloadExited},
		"waiting after the second":       {pod: pod(backsOff("workload", 3, "Error", 1)), crashes: 2, want: v1alpha1.ReasonWorkloadExited},
		"third end":                      {pod: pod(backsOff("workload", 3, "Error", 2)), crashes: 3, want: v1alpha1.ReasonWorkloadCrashLooping, terminal: true},
		"third time out of memory":       {pod: pod(backsOff("workload", 137, "OOMKilled", 2)), crashes: 3, want: v1alpha1.ReasonWorkloadOutOfMemory, terminal: true},
		"running again after the second": {pod: pod(restarted("workload", 3, time.Second, false), func(p *corev1.Pod) { status(p, "workload").RestartCount = 2 }), crashes: 2, want: v1alpha1.ReasonWorkloadExited},
		"never ended":                    {pod: pod(), crashes: 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := podfault.Crashes(tc.pod, "workload")
			if n != tc.crashes {
				t.Errorf("%d ends, want %d", n, tc.crashes)
			}
			got := podfault.CrashLooping(podfault.Of(podfault.Evidence{Pod: tc.pod, Spec: spec(), Now: now, Workload: "workload"}), n)
			if got == nil {
				if tc.want != "" {
					t.Fatal("no fault")
				}
				return
			}
			if got.Reason != tc.want || got.Terminal != tc.terminal {
				t.Errorf("got %s (terminal %v), want %s", got.Reason, got.Terminal, tc.want)
			}
		})
	}
}

func TestWorstDoesNotDependOnTheOrder(t *testing.T) {
	a := &podfault.Fault{Reason: v1alpha1.ReasonUnschedulable, Message: "a"}
	b := &podfault.Fault{Reason: v1alpha1.ReasonWorkloadExited, Message: "b"}
	c := &podfault.Fault{Reason: v1alpha1.ReasonWorkloadExited, Message: "c"}
	d := &podfault.Fault{Reason: v1alpha1.ReasonImagePullFailed, Message: "d", Terminal: true}
	for _, in := range [][]*podfault.Fault{{a, b, c, nil, d}, {d, c, b, a}, {nil, c, d, a, b}} {
		if got := podfault.Worst(in); got != d {
			t.Errorf("got %v", got)
		}
	}
	if got := podfault.Worst([]*podfault.Fault{c, a, b}); got != b {
		t.Errorf("got %v", got)
	}
	if got := podfault.Worst([]*podfault.Fault{nil}); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestMessagesNameAFewReferencesOnly(t *testing.T) {
	s := spec()
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		s.Workload.Volumes = append(s.Workload.Volumes, v1alpha1.Volume{Name: n, ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: n}}})
	}
	got := podfault.VolumeNotFound(s).Message
	if !strings.Contains(got, "and 3 more") {
		t.Error(got)
	}
}
