package desired_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// generate makes a McpServer that uses each field of the kind with some
// chance. Equal seeds give equal servers.
func generate(seed uint64) *v1alpha1.McpServer {
	r := rand.New(rand.NewPCG(seed, 1))
	maybe := func() bool { return r.IntN(3) == 0 }
	s := &v1alpha1.McpServer{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("s%d", seed), Namespace: "team", UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", r.Uint32())),
	}}
	w := &s.Spec.Workload
	w.Image = "registry.example/x:1"
	if r.IntN(2) == 0 {
		w.Type, w.Command = v1alpha1.WorkloadStdio, []string{"/x"}
		if maybe() {
			w.Stdio = &v1alpha1.StdioWorkload{MaxProcesses: ptr.To(int32(1 + r.IntN(256)))}
		}
	} else {
		w.Type, w.MCP = v1alpha1.WorkloadMCP, &v1alpha1.MCPWorkload{Port: int32(1 + r.IntN(17000))}
	}
	if maybe() {
		w.Args = []string{"a", "--", "-b"}
	}
	if maybe() {
		w.Env = append(w.Env, corev1.EnvVar{Name: "HOME", Value: "/x"}, corev1.EnvVar{Name: "EMPTY"})
	}
	if maybe() {
		w.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}}}}
	}
	if maybe() {
		w.Volumes = []v1alpha1.Volume{
			{Name: "a", EmptyDir: &corev1.EmptyDirVolumeSource{}},
			{Name: "b", Secret: &corev1.SecretVolumeSource{SecretName: "b"}},
			{Name: "c", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}},
			{Name: "d", Image: &corev1.ImageVolumeSource{Reference: "registry.example/d:1"}},
		}
		w.VolumeMounts = []v1alpha1.VolumeMount{{Name: "a", MountPath: "/tmp"}, {Name: "d", MountPath: "/d"}}
	}
	if maybe() {
		w.Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	}
	if maybe() {
		w.SecurityContext = &corev1.SecurityContext{
			RunAsUser:              ptr.To(1 + r.Int64N(60000)),
			ReadOnlyRootFilesystem: ptr.To(maybe()),
			SeccompProfile:         &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
	}
	if maybe() {
		w.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
		w.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	}
	if maybe() {
		s.Spec.Rollout.DrainSeconds = ptr.To(int32(r.IntN(3601)))
	}
	generatePod(&s.Spec.Pod, maybe)
	return s
}

func generatePod(p *v1alpha1.Pod, maybe func() bool) {
	if maybe() {
		p.Labels = map[string]string{"app.kubernetes.io/managed-by": "me", "x": "y"}
		p.Annotations = map[string]string{"x": "y"}
	}
	if maybe() {
		p.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		p.NodeSelector = map[string]string{"x": "y"}
	}
	if maybe() {
		p.DNSConfig = &corev1.PodDNSConfig{Searches: []string{"x.example"}}
		p.HostAliases = []corev1.HostAlias{{IP: "192.0.2.1", Hostnames: []string{"x"}}}
	}
	if maybe() {
		p.ServiceAccountName, p.PriorityClassName, p.RuntimeClassName = "x", "y", "z"
		p.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "x"}}
	}
	if maybe() {
		p.Sidecar.Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
		p.Sidecar.Env = []corev1.EnvVar{{Name: "X", Value: "y"}}
	}
}
