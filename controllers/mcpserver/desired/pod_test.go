package desired_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

const manyServers = 500

// podOf is the pod as the kubelet would get it.
func podOf(t *testing.T, s *v1alpha1.McpServer) corev1.PodTemplateSpec {
	t.Helper()
	tpl, err := desired.MakeTemplate(input(s))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(tpl.Pod)
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.PodTemplateSpec
	if err := json.Unmarshal(data, &pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// D14: every pod passes Pod Security restricted, judged by the evaluator that
// the API server's own admission uses. W18.11: what a stdio workload runs in.
func TestPodsPassRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	judge := func(s *v1alpha1.McpServer) policy.AggregateCheckResult {
		pod := podOf(t, s)
		return policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	}
	for seed := range uint64(manyServers) {
		s := generate(seed)
		if got := judge(s); !got.Allowed {
			t.Fatalf("seed %d: %s", seed, got.ForbiddenDetail())
		}
	}
	t.Run("and what would not pass is not taken from an object that got around the schema", func(t *testing.T) {
		s := generate(1)
		s.Spec.Workload.SecurityContext = &corev1.SecurityContext{
			Privileged:               ptr.To(true),
			AllowPrivilegeEscalation: ptr.To(true),
			RunAsNonRoot:             ptr.To(false),
			Capabilities:             &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}},
			ProcMount:                ptr.To(corev1.UnmaskedProcMount),
		}
		if got := judge(s); !got.Allowed {
			t.Error(got.ForbiddenDetail())
		}
	})
	t.Run("while root, which the user alone can ask for, is refused", func(t *testing.T) {
		s := generate(1)
		s.Spec.Workload.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To(int64(0))}
		if got := judge(s); got.Allowed {
			t.Error("runAsUser 0 passes; then this test proves nothing")
		}
	})
}

// The API server fills in a pull policy once and keeps it when the image
// changes, so the builder spells it out.
func TestPullPolicyFollowsTheImage(t *testing.T) {
	const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	tests := map[string]corev1.PullPolicy{
		"demo":                                  corev1.PullAlways,
		"demo:latest":                           corev1.PullAlways,
		"demo:1":                                corev1.PullIfNotPresent,
		"registry.example:5000/demo":            corev1.PullAlways,
		"registry.example:5000/demo:1":          corev1.PullIfNotPresent,
		"registry.example/demo" + digest:        corev1.PullIfNotPresent,
		"registry.example/demo:latest" + digest: corev1.PullAlways,
	}
	for image, want := range tests {
		t.Run(image, func(t *testing.T) {
			s := &v1alpha1.McpServer{}
			s.Namespace, s.Name, s.UID = "team", "demo", "uid"
			s.Spec.Workload = v1alpha1.Workload{
				Type: v1alpha1.WorkloadStdio, Image: image, Command: []string{"/x"},
				Volumes: []v1alpha1.Volume{{Name: "files", Image: &corev1.ImageVolumeSource{Reference: image}}},
			}
			pod := podOf(t, s)
			if got := pod.Spec.Containers[0].ImagePullPolicy; got != want {
				t.Errorf("the workload's image: %s, want %s", got, want)
			}
			files := pod.Spec.Volumes[slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "files" })]
			if got := files.Image.PullPolicy; got != want {
				t.Errorf("a volume: %s, want %s", got, want)
			}
			s.Spec.Workload.ImagePullPolicy = corev1.PullNever
			if got := podOf(t, s).Spec.Containers[0].ImagePullPolicy; got != corev1.PullNever {
				t.Errorf("asked for Never: %s", got)
			}
		})
	}
}

// O2: a startup probe that consults the workload would deadlock the pod.
func TestNoStartupProbeConsultsTheWorkload(t *testing.T) {
	for seed := range uint64(manyServers) {
		pod := podOf(t, generate(seed))
		names := []string{}
		for _, c := range pod.Spec.InitContainers {
			names = append(names, c.Name)
			if p := c.StartupProbe; p != nil && (p.HTTPGet == nil || p.HTTPGet.Path != config.PathStartup || p.HTTPGet.Port.StrVal != desired.PortNameAdmin) {
				t.Fatalf("seed %d: startup probe of %s: %v", seed, c.Name, p)
			}
		}
		if !slices.Equal(names, []string{desired.ContainerInstall, desired.ContainerSidecar}) {
			t.Fatalf("seed %d: init containers %v", seed, names)
		}
		sidecar := pod.Spec.InitContainers[1]
		if ptr.Deref(sidecar.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways {
			t.Fatalf("seed %d: the sidecar is no native sidecar", seed)
		}
		if sidecar.ReadinessProbe.HTTPGet.Path != config.PathReadyz || sidecar.ReadinessProbe.PeriodSeconds != 1 {
			t.Fatalf("seed %d: readiness %v", seed, sidecar.ReadinessProbe)
		}
	}
}

// O3: no hook can run into the grace period, and every hook is an exec of our
// binary; a failed probe restarts the workload without waiting for a drain.
func TestClocksAndHooks(t *testing.T) {
	for seed := range uint64(manyServers) {
		s := generate(seed)
		pod := podOf(t, s)
		boot := bootOf(t, pod)
		if got, want := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0), int64(boot.Clocks.Grace()); got != want {
			t.Fatalf("seed %d: grace %d, the clocks say %d", seed, got, want)
		}
		if boot.Clocks.Hook() >= boot.Clocks.Grace() {
			t.Fatalf("seed %d: a hook of %d s runs into a grace of %d s", seed, boot.Clocks.Hook(), boot.Clocks.Grace())
		}
		deadline := fmt.Sprintf("%ds", boot.Clocks.Hook())
		for _, c := range append(pod.Spec.InitContainers[1:], pod.Spec.Containers...) {
			if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Exec == nil || c.Lifecycle.PreStop.Exec.Command[0] != config.AgentPath ||
				!slices.Contains(c.Lifecycle.PreStop.Exec.Command, deadline) {
				t.Fatalf("seed %d: preStop of %s: %v", seed, c.Name, c.Lifecycle)
			}
		}
		w := pod.Spec.Containers[0]
		for _, p := range []*corev1.Probe{w.LivenessProbe, w.StartupProbe} {
			if p != nil && ptr.Deref(p.TerminationGracePeriodSeconds, 0) != 10 {
				t.Fatalf("seed %d: probe grace %v", seed, p.TerminationGracePeriodSeconds)
			}
		}
	}
}

// O1: what the pod was made with is what the sidecar can load.
func bootOf(t *testing.T, pod corev1.PodTemplateSpec) config.Boot {
	t.Helper()
	for _, e := range pod.Spec.InitContainers[1].Env {
		if e.Name == config.BootEnv {
			boot, _, err := config.LoadBoot([]byte(e.Value))
			if err != nil {
				t.Fatalf("the sidecar refuses its boot config: %v", err)
			}
			return boot
		}
	}
	t.Fatal("no boot config")
	return config.Boot{}
}

// D9: the keys are nobody's but the sidecar's.
func TestOnlyTheSidecarSeesTheKeys(t *testing.T) {
	for seed := range uint64(manyServers) {
		pod := podOf(t, generate(seed))
		var with []string
		for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
			for _, m := range c.VolumeMounts {
				if m.MountPath == config.KeysDir || m.Name == "fairlead-keys" {
					with = append(with, c.Name)
				}
			}
		}
		if !slices.Equal(with, []string{desired.ContainerSidecar}) {
			t.Fatalf("seed %d: the keys are mounted in %v", seed, with)
		}
	}
}

// R15: whatever the user mounts or sets, home and temporary folder are
// writable and each path is mounted once. W18.11: nothing else is.
func TestWritablePlaces(t *testing.T) {
	for seed := range uint64(manyServers) {
		s := generate(seed)
		pod := podOf(t, s)
		seen := map[string]int{}
		for _, m := range pod.Spec.Containers[0].VolumeMounts {
			seen[strings.TrimSuffix(m.MountPath, "/")]++
		}
		for _, dir := range []string{"/tmp", "/home/mcp"} {
			if seen[dir] != 1 {
				t.Fatalf("seed %d: %s is mounted %d times", seed, dir, seen[dir])
			}
		}
		env := map[string]int{}
		for _, e := range pod.Spec.Containers[0].Env {
			env[e.Name]++
		}
		for _, name := range []string{"HOME", "TMPDIR", "XDG_CACHE_HOME", "npm_config_cache", "UV_CACHE_DIR"} {
			if env[name] != 1 {
				t.Fatalf("seed %d: %s is set %d times", seed, name, env[name])
			}
		}
	}
}

// C37 and D14.
func TestPodIsQuiet(t *testing.T) {
	pod := podOf(t, generate(3))
	if ptr.Deref(pod.Spec.EnableServiceLinks, true) {
		t.Error("Services of the namespace become environment variables")
	}
	if ptr.Deref(pod.Spec.AutomountServiceAccountToken, true) {
		t.Error("a token is mounted")
	}
	if pod.Spec.SecurityContext.FSGroup != nil {
		t.Error("fsGroup re-owns the user's volumes")
	}
}

// C41, R11: the agent never starts arguments without a command.
func TestStdioCommandFollowsTheAgent(t *testing.T) {
	s := generate(4)
	s.Spec.Workload.Type, s.Spec.Workload.Command, s.Spec.Workload.Args = v1alpha1.WorkloadStdio, []string{"npx", "-y"}, []string{"--x"}
	s.Spec.Workload.MCP = nil
	w := podOf(t, s).Spec.Containers[0]
	got := fmt.Sprint(w.Command, w.Args)
	if got != "[/fairlead/bin/mcp-agent run --socket /fairlead/run/agent.sock --termination 5s -- npx -y --x] []" {
		t.Error(got)
	}
}
