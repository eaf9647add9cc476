package desired

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// sidecarContainer is the native sidecar: an init container that restarts, so
// it is up before the workload and ends after it (D8).
func sidecarContainer(in Input) (*corev1ac.ContainerApplyConfiguration, error) {
	s := in.Server
	boot, _, err := config.EncodeBoot(Boot(s))
	if err != nil {
		return nil, err
	}
	resources, limit, err := sidecarResources(s.Spec.Pod.Sidecar.Resources)
	if err != nil {
		return nil, err
	}
	user, err := convertAll[corev1ac.EnvVarApplyConfiguration](defaultedEnv(s.Spec.Pod.Sidecar.Env))
	if err != nil {
		return nil, err
	}
	env := append([]*corev1ac.EnvVarApplyConfiguration{
		envVar(config.BootEnv, string(boot)),
		fieldEnv(config.EnvPodUID, "metadata.uid"),
		fieldEnv(config.EnvPodName, "metadata.name"),
		fieldEnv(config.EnvPodIP, "status.podIP"),
	}, user...)
	if limit > 0 && !hasEnv(s.Spec.Pod.Sidecar.Env, "GOMEMLIMIT") {
		// Nine tenths of the limit: the collector works before the kernel kills.
		env = append(env, envVar("GOMEMLIMIT", strconv.FormatInt(limit/10*9, 10)))
	}
	return corev1ac.Container().
		WithName(ContainerSidecar).
		WithImage(in.DataPlane.Image).
		WithImagePullPolicy(in.DataPlane.ImagePullPolicy).
		WithCommand(sidecarCommand()...).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways).
		WithEnv(env...).
		WithPorts(
			port(PortNamePublic, config.PortPublic),
			port(PortNameAdmin, config.PortAdmin),
			port(PortNameMetrics, config.PortMetrics),
		).
		WithResources(resources).
		WithSecurityContext(restricted(config.SidecarUID)).
		WithVolumeMounts(
			mount(volumeBin, config.BinDir, true),
			mount(volumeRun, config.RunDir, false),
			mount(volumeLive, config.LiveDir, true),
			mount(volumeKeys, config.KeysDir, true),
		).
		// O2: its own listeners only. A startup probe that waited for the
		// workload would wait for ever, since the kubelet starts the workload
		// after it.
		WithStartupProbe(adminProbe(config.PathStartup).WithPeriodSeconds(1).WithFailureThreshold(60)).
		// The handshake with the workload is the pod's readiness (D8, O7).
		WithReadinessProbe(adminProbe(config.PathReadyz).WithPeriodSeconds(1).WithTimeoutSeconds(2).WithFailureThreshold(2)).
		WithLivenessProbe(adminProbe(config.PathLivez).WithPeriodSeconds(10).WithTimeoutSeconds(3).WithFailureThreshold(3)).
		WithLifecycle(preStop(hookCommand("sidecar", clocks(s)))), nil
}

func adminProbe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().
		WithPath(path).WithPort(intstr.FromString(PortNameAdmin)))
}

func port(name string, number int32) *corev1ac.ContainerPortApplyConfiguration {
	// Name and protocol are part of what identifies the entry in a merge.
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(number).WithProtocol(corev1.ProtocolTCP)
}

// fieldEnv names the version that the API server would fill in: a fieldRef is
// one atomic value, so without it every comparison would find a difference.
func fieldEnv(name, path string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath(path)))
}

func hasEnv(env []corev1.EnvVar, name string) bool {
	for i := range env {
		if env[i].Name == name {
			return true
		}
	}
	return false
}

// sidecarResources are the user's, or the defaults without a CPU limit, which
// would only add latency. limit is the memory limit in bytes, 0 for none.
func sidecarResources(user corev1.ResourceRequirements) (*corev1ac.ResourceRequirementsApplyConfiguration, int64, error) {
	if len(user.Requests) == 0 && len(user.Limits) == 0 {
		user = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("50m"),
				corev1.ResourceMemory: resource.MustParse("64Mi"),
			},
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		}
	}
	out, err := convert[corev1ac.ResourceRequirementsApplyConfiguration](&user)
	if err != nil {
		return nil, 0, fmt.Errorf("sidecar resources: %w", err)
	}
	return out, user.Limits.Memory().Value(), nil
}

// installContainer copies the agent where the workload's container finds it,
// whatever its image holds. It is in every pod, because both hooks are the
// agent's (O3).
func installContainer(dp DataPlane) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(ContainerInstall).
		WithImage(dp.Image).
		WithImagePullPolicy(dp.ImagePullPolicy).
		WithCommand(installCommand()...).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("10m"),
				corev1.ResourceMemory: resource.MustParse("16Mi"),
			}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")})).
		WithSecurityContext(restricted(config.SidecarUID)).
		WithVolumeMounts(mount(volumeBin, config.BinDir, false))
}
