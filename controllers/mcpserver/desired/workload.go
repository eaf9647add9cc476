package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// probeGraceSeconds is what the kubelet gives the workload after a failed
// probe. Without it the pod's grace period would apply, and a hung workload
// would be restarted only after a whole drain (O3).
const probeGraceSeconds = 10

// workloadContainer is the user's container.
func workloadContainer(s *v1alpha1.McpServer) (*corev1ac.ContainerApplyConfiguration, error) {
	w := &s.Spec.Workload
	c := corev1ac.Container().WithName(ContainerWorkload).WithImage(w.Image).
		WithImagePullPolicy(pullPolicy(w.ImagePullPolicy, w.Image))
	if w.Type == v1alpha1.WorkloadStdio {
		c.WithCommand(runCommand(w.Command, w.Args, clocks(s))...)
	} else {
		c.WithCommand(w.Command...)
		c.WithArgs(w.Args...)
	}
	env, err := workloadEnv(w.Env)
	if err != nil {
		return nil, err
	}
	c.WithEnv(env...)
	from, err := convertAll[corev1ac.EnvFromSourceApplyConfiguration](w.EnvFrom)
	if err != nil {
		return nil, err
	}
	c.WithEnvFrom(from...)
	mounts, err := workloadMounts(s)
	if err != nil {
		return nil, err
	}
	c.WithVolumeMounts(mounts...)
	if len(w.Resources.Limits) > 0 || len(w.Resources.Requests) > 0 {
		if c.Resources, err = convert[corev1ac.ResourceRequirementsApplyConfiguration](&w.Resources); err != nil {
			return nil, err
		}
	}
	if c.SecurityContext, err = workloadSecurity(w.SecurityContext); err != nil {
		return nil, err
	}
	if c.LivenessProbe, err = workloadProbe(w.LivenessProbe); err != nil {
		return nil, err
	}
	if c.StartupProbe, err = workloadProbe(w.StartupProbe); err != nil {
		return nil, err
	}
	c.WithLifecycle(preStop(hookCommand("workload", clocks(s))))
	return c, nil
}

// workloadEnv points the home and the usual caches to writable places, unless
// the user set the variable (R15). Ours come first, so that $(HOME) works in
// the user's values.
func workloadEnv(user []corev1.EnvVar) ([]*corev1ac.EnvVarApplyConfiguration, error) {
	var out []*corev1ac.EnvVarApplyConfiguration
	for _, d := range []struct{ name, value string }{
		{"HOME", dirHome},
		{"TMPDIR", dirTmp},
		{"XDG_CACHE_HOME", dirHome + "/.cache"},
		{"npm_config_cache", dirHome + "/.npm"},
		{"UV_CACHE_DIR", dirHome + "/.cache/uv"},
	} {
		if !hasEnv(user, d.name) {
			out = append(out, envVar(d.name, d.value))
		}
	}
	mine, err := convertAll[corev1ac.EnvVarApplyConfiguration](defaultedEnv(user))
	if err != nil {
		return nil, err
	}
	return append(out, mine...), nil
}

func workloadProbe(user *corev1.Probe) (*corev1ac.ProbeApplyConfiguration, error) {
	if user == nil {
		return nil, nil
	}
	p, err := convert[corev1ac.ProbeApplyConfiguration](user)
	if err != nil {
		return nil, err
	}
	return p.WithTerminationGracePeriodSeconds(probeGraceSeconds), nil
}
