package mcpserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// O19: whatever a user may write, the API server's defaults and spelling make
// no difference that we would correct for ever.
func TestEverySampleComesToRest(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), "config", "samples", "*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range strings.Split(string(data), "\n---") {
			s := &v1alpha1.McpServer{}
			if yaml.Unmarshal([]byte(doc), s) != nil || s.Kind != "McpServer" {
				continue
			}
			t.Run(filepath.Base(file)+"/"+s.Name, func(t *testing.T) { comesToRest(t, s) })
		}
	}
}

// The same for spellings that the API server changes, and for zero values.
func TestOddSpellingsComeToRest(t *testing.T) {
	base := func() *v1alpha1.McpServer {
		s := &v1alpha1.McpServer{}
		s.Name = "odd"
		s.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadStdio, Image: "x", Command: []string{"/x"}}
		return s
	}
	tests := map[string]func(*v1alpha1.McpServer){
		"quantities in other units": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Resources.Limits = corev1.ResourceList{
				"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("1024Mi"), "ephemeral-storage": resource.MustParse("0.5Gi"),
			}
		},
		"empty values of the environment": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Env = []corev1.EnvVar{{Name: "A"}, {Name: "B", Value: ""}, {Name: "C", Value: "$(A)"}}
		},
		"empty sources": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "a", EmptyDir: &corev1.EmptyDirVolumeSource{}}}
			s.Spec.Workload.VolumeMounts = []v1alpha1.VolumeMount{{Name: "a", MountPath: "/a", ReadOnly: ptrTo(false)}, {Name: "a", MountPath: "/tmp/"}}
		},
		"probes with defaults": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
			s.Spec.Workload.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 81, Service: ptrTo("")}}}
		},
		"tolerations of everything": func(s *v1alpha1.McpServer) {
			s.Spec.Pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}, {Key: "a", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptrTo(int64(0))}}
			s.Spec.Pod.Affinity = &corev1.Affinity{}
		},
		"references to fields and resources": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Env = []corev1.EnvVar{
				{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
				{Name: "B", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}},
				{Name: "C", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: resource.MustParse("1000m")}}},
			}
			s.Spec.Pod.Sidecar.Env = s.Spec.Workload.Env
			s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "p", Projected: &v1alpha1.ProjectedVolume{Sources: []v1alpha1.ProjectedSource{
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
					{Path: "a", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
					{Path: "b", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "workload", Resource: "limits.memory"}},
				}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Items: []corev1.KeyToPath{{Key: "a", Path: "x"}}}},
			}}}}
		},
		"a claim of its own": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "e", Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1024Mi")}},
					DataSource:  &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "x"},
				},
			}}}}
		},
		"affinity of every kind": func(s *v1alpha1.McpServer) {
			term := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
			s.Spec.Pod.Affinity = &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}},
				}}},
				PodAffinity:     &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}},
				PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}},
			}
			s.Spec.Pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: term.LabelSelector, MatchLabelKeys: []string{"pod-template-hash"}},
			}
		},
		"probes with headers and commands": func(s *v1alpha1.McpServer) {
			s.Spec.Workload.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Port: intstr.FromInt32(80), HTTPHeaders: []corev1.HTTPHeader{{Name: "A", Value: "b"}},
			}}}
			s.Spec.Workload.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/x"}}}, TimeoutSeconds: 2}
		},
		"network from everywhere to nowhere": func(s *v1alpha1.McpServer) {
			s.Spec.Network = v1alpha1.Network{
				Egress:         v1alpha1.EgressRestricted,
				IngressFrom:    []v1alpha1.NetworkPeer{{NamespaceSelector: &metav1.LabelSelector{}, PodSelector: &metav1.LabelSelector{}}},
				MonitoringFrom: []v1alpha1.NetworkPeer{{IPBlock: &v1alpha1.IPBlock{CIDR: "2001:db8::/32"}}},
			}
		},
		"zero clocks": func(s *v1alpha1.McpServer) { s.Spec.Rollout.DrainSeconds = ptrTo(int32(0)) },
		"requests only": func(s *v1alpha1.McpServer) {
			s.Spec.Pod.Sidecar.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("0.1")}
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			s := base()
			edit(s)
			comesToRest(t, s)
		})
	}
}

func comesToRest(t *testing.T, s *v1alpha1.McpServer) {
	w := newWorld(t)
	s.Namespace = w.ns
	w.must(w.c.Create(t.Context(), s))
	w.reconcile(s)
	w.want(s, "Accepted", "True/Accepted")
	w.writes.take()
	w.pass(time.Minute)
	w.reconcile(s)
	w.restartOperator()
	w.reconcile(s)
	if got := w.writes.take(); len(got) > 0 {
		t.Errorf("wrote %q", got)
	}
}
