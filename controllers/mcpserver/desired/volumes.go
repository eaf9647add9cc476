package desired

import (
	"path"

	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Our volumes in the pod. The prefix is reserved, so none can be the user's.
const (
	volumeBin  = v1alpha1.ReservedVolumePrefix + "bin"
	volumeRun  = v1alpha1.ReservedVolumePrefix + "run"
	volumeLive = v1alpha1.ReservedVolumePrefix + "live"
	volumeKeys = v1alpha1.ReservedVolumePrefix + "keys"
	volumeTmp  = v1alpha1.ReservedVolumePrefix + "tmp"
	volumeHome = v1alpha1.ReservedVolumePrefix + "home"
)

// The writable places of a workload on a read-only root (R15).
const (
	dirTmp  = "/tmp"
	dirHome = "/home/mcp"
)

// scratch is an emptyDir that cannot fill the node's disk.
func scratch(name, limit string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).
		WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(limit)))
}

// volumes are ours, then the user's.
//
// The live contract is a directory of the pod, neither subPath (never updated)
// nor optional (its files would vanish with it): O15. An emptyDir is mode 0777,
// so agent and sidecar, which differ in uid, both reach the sockets (O9).
func volumes(s *v1alpha1.McpServer) ([]*corev1ac.VolumeApplyConfiguration, error) {
	n := NamesOf(s)
	out := []*corev1ac.VolumeApplyConfiguration{
		scratch(volumeBin, "64Mi"),
		scratch(volumeRun, "16Mi"),
		corev1ac.Volume().WithName(volumeLive).
			WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(n.ConfigMap).WithDefaultMode(0o444)),
		corev1ac.Volume().WithName(volumeKeys).
			WithSecret(corev1ac.SecretVolumeSource().WithSecretName(n.Secret).WithDefaultMode(0o444)),
	}
	if !mountsAt(s, dirTmp) {
		out = append(out, scratch(volumeTmp, "512Mi"))
	}
	if !mountsAt(s, dirHome) {
		out = append(out, scratch(volumeHome, "512Mi"))
	}
	for i := range s.Spec.Workload.Volumes {
		core := s.Spec.Workload.Volumes[i].Core()
		defaultVolume(&core)
		v, err := convert[corev1ac.VolumeApplyConfiguration](&core)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// mountsAt reports whether the user mounts a volume exactly at dir.
func mountsAt(s *v1alpha1.McpServer, dir string) bool {
	for _, m := range s.Spec.Workload.VolumeMounts {
		if path.Clean(m.MountPath) == dir {
			return true
		}
	}
	return false
}

func mount(name, at string, readOnly bool) *corev1ac.VolumeMountApplyConfiguration {
	m := corev1ac.VolumeMount().WithName(name).WithMountPath(at)
	if readOnly {
		m.WithReadOnly(true)
	}
	return m
}

// workloadMounts are the agent, its socket, the writable places and what the
// user mounts. The keys are never among them (D9).
func workloadMounts(s *v1alpha1.McpServer) ([]*corev1ac.VolumeMountApplyConfiguration, error) {
	out := []*corev1ac.VolumeMountApplyConfiguration{
		mount(volumeBin, config.BinDir, true),
		mount(volumeRun, config.RunDir, false),
	}
	if !mountsAt(s, dirTmp) {
		out = append(out, mount(volumeTmp, dirTmp, false))
	}
	if !mountsAt(s, dirHome) {
		out = append(out, mount(volumeHome, dirHome, false))
	}
	for i := range s.Spec.Workload.VolumeMounts {
		core := s.Spec.Workload.VolumeMounts[i].Core()
		m, err := convert[corev1ac.VolumeMountApplyConfiguration](&core)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
