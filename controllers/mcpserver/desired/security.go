package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// restricted is the context that passes Pod Security restricted with any
// image: the uid is forced, because an image without USER, or with a named
// one, is refused by the kubelet under runAsNonRoot alone (O9).
func restricted(uid int64) *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithRunAsNonRoot(true).
		WithRunAsUser(uid).
		WithRunAsGroup(uid).
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
}

// workloadSecurity merges the user's context over ours. Only the fields that
// cannot weaken restricted are taken; the schema refuses the others, and here
// they are not even looked at, should an object have got around it.
func workloadSecurity(user *corev1.SecurityContext) (*corev1ac.SecurityContextApplyConfiguration, error) {
	sc := restricted(config.WorkloadUID)
	if user == nil {
		return sc, nil
	}
	over, err := convert[corev1ac.SecurityContextApplyConfiguration](user)
	if err != nil {
		return nil, err
	}
	if over.RunAsUser != nil {
		sc.RunAsUser = over.RunAsUser
	}
	if over.RunAsGroup != nil {
		sc.RunAsGroup = over.RunAsGroup
	}
	if over.ReadOnlyRootFilesystem != nil {
		sc.ReadOnlyRootFilesystem = over.ReadOnlyRootFilesystem
	}
	if over.SELinuxOptions != nil {
		sc.SELinuxOptions = over.SELinuxOptions
	}
	if over.SeccompProfile != nil {
		sc.SeccompProfile = over.SeccompProfile
	}
	if over.AppArmorProfile != nil {
		sc.AppArmorProfile = over.AppArmorProfile
	}
	return sc, nil
}

// podSecurity holds for whatever container has no context of its own. There is
// never an fsGroup: it would re-own the user's volumes (O9).
func podSecurity() *corev1ac.PodSecurityContextApplyConfiguration {
	return corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
}
